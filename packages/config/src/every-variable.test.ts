import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { ConfigError } from '@herald/runtime/env';
import { readApiConfig } from './api-config.ts';
import { VARIABLES } from './variables.ts';
import { readWorkerConfig } from './worker-config.ts';

const folder = mkdtempSync(join(tmpdir(), 'herald-ca-'));
const CA_FILE = join(folder, 'ca.pem');
writeFileSync(CA_FILE, rootCertificates[0] ?? '');
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const SECRETS_KEY = Buffer.alloc(32, 1).toString('base64');
const CREDENTIALS = { OPERATOR_USER: 'olga', OPERATOR_PASSWORD: 'correct-horse battery' };
const NOTICES = { NOTICE_URL: 'https://ops.example.com/in', NOTICE_SECRET: `whsec_${SECRETS_KEY}` };
const SENTINELS = { REDIS_SENTINELS: '10.0.0.1:26379,10.0.0.2:26379', REDIS_SENTINEL_MASTER: 'mymaster' };

/** A value of each variable, with those without which it is refused. */
const VALUES: Readonly<Record<string, string | NodeJS.ProcessEnv>> = {
  REDIS_URL: 'redis://user:p%40ss@redis.example.com:6380/2',
  REDIS_CLUSTER_NODES: '10.0.0.1:6379,10.0.0.2:6379',
  REDIS_SENTINELS: SENTINELS,
  REDIS_SENTINEL_MASTER: SENTINELS,
  REDIS_SENTINEL_PASSWORD: { REDIS_SENTINEL_PASSWORD: 'a word', ...SENTINELS },
  REDIS_MIN_REPLICAS: '1',
  SHARDS: '4',
  RETENTION: '2d',
  HISTORY_URL: 'postgres://herald:p%40ss@10.0.0.5:5432/herald?sslmode=verify-full',
  HISTORY_RETENTION: '30d',
  HISTORY_BODIES: 'false',
  AUDIT_LENGTH: '500',
  TASK_RETENTION: '10d',
  SECRETS_KEY,
  PORT: '8090',
  HOST: '10.0.0.9',
  ACTION_URL_TEMPLATE: 'https://app.example.com/tasks/{taskId}?version={actionVersion}#now',
  PUBLIC_URL: 'https://herald.example.com/hooks',
  CONSOLE_FRAME_ANCESTORS: 'https://app.example.com, https://*.example.com',
  CONSOLE_BRAND: '{"name":"Acme","accent":"#0b5cad"}',
  API_ALLOWED_ORIGINS: 'https://app.example.com, http://localhost:3000',
  RATE_LIMIT: '20',
  WORKSPACE_PENDING_LIMIT: '1000',
  WORKSPACE_BYTES: '1000000',
  TRUST_PROXY: '1',
  OPERATOR_USER: CREDENTIALS,
  OPERATOR_PASSWORD: CREDENTIALS,
  OPERATOR_WRITE: 'true',
  OPERATOR_PORT: '8082',
  OPERATOR_HOST: { OPERATOR_HOST: '10.0.0.9', OPERATOR_PORT: '8082' },
  METRICS_TOKEN: 'a-token-of-letters',
  WORKER_PORT: '8091',
  WORKER_HOST: '10.0.0.9',
  CONCURRENCY: '20',
  DESTINATION_CONCURRENCY: '20',
  WORKER_SHARDS: { WORKER_SHARDS: '0,2-3', SHARDS: '4' },
  DELIVERY_TIMEOUT: '20s',
  RETRY_SCHEDULE: '1s,1m',
  CALLBACK_RETRY_SCHEDULE: '2s,2m',
  DISABLE_AFTER: '3d',
  EGRESS_ALLOW_CIDRS: '10.0.0.0/8, fc00::/7',
  EGRESS_DENY_CIDRS: '192.0.2.0/24',
  EGRESS_CA_FILE: CA_FILE,
  EGRESS_DNS: 'system',
  EGRESS_DNS_SERVERS: '10.0.0.53, 10.0.0.54',
  EGRESS_PROXY_URL: 'http://user:word@proxy.example.com:3128',
  NOTICE_URL: NOTICES,
  NOTICE_SECRET: NOTICES,
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
  TRACEPARENT_TO_RECEIVERS: 'true',
  LOG_LEVEL: 'debug',
};
const REQUIRED = { SECRETS_KEY, ACTION_URL_TEMPLATE: 'https://app.example.com/tasks/{taskId}' };
const READERS = { api: readApiConfig, worker: readWorkerConfig };
const ROLES = ['api', 'worker'] as const;

const CASES = [...new Set([...VARIABLES.api, ...VARIABLES.worker])].map((name) => {
  const value = VALUES[name];
  const given: NodeJS.ProcessEnv = typeof value === 'string' ? { [name]: value } : (value ?? {});
  const roles = ROLES.filter((role) => VARIABLES[role].includes(name));
  return { name, text: given[name] ?? '', given: { ...REQUIRED, ...given }, roles };
});

test.each(CASES)('$name is the same with blanks and line ends around it', ({ name, text, given, roles }) => {
  expect(text).not.toBe('');
  for (const role of roles) {
    const config = READERS[role](given);
    for (const around of [` ${text}`, `${text}\n`, `\t${text} \r\n`])
      expect(READERS[role]({ ...given, [name]: around })).toEqual(config);
  }
});

test.each(CASES)('$name is refused by name with a line end in it', ({ name, text, given, roles }) => {
  const refusal = `${name} must not have line ends, or other control characters, within it`;
  for (const role of roles) {
    let problems: readonly string[] = [];
    try {
      READERS[role]({ ...given, [name]: `${text}\n${text}` });
    } catch (error) {
      if (error instanceof ConfigError) ({ problems } = error);
    }
    expect(problems).toContain(refusal);
  }
});

test.each([
  ['PUBLIC_URL', 'https://HERALD.example.com:443/a b/', { publicUrl: 'https://herald.example.com/a%20b' }],
  [
    'ACTION_URL_TEMPLATE',
    'https:app.example.com/{taskId}/ü',
    { actionUrlTemplate: 'https://app.example.com/{taskId}/%C3%BC' },
  ],
  [
    'API_ALLOWED_ORIGINS',
    'https://app.example.com:443, http://localhost:80',
    { allowedOrigins: ['https://app.example.com', 'http://localhost'] },
  ],
  [
    'CONSOLE_FRAME_ANCESTORS',
    'https://*.example.com:443, http://a.b:8080',
    { frameAncestors: ['https://*.example.com', 'http://a.b:8080'] },
  ],
])('%s is used as a browser reads it', (name, text, expected) => {
  expect(readApiConfig({ ...REQUIRED, [name]: text })).toMatchObject(expected);
});

test.each(['localhost:3000/{taskId}', 'app.example.com/{taskId}', 'ftp://app.example.com/{taskId}'])(
  'ACTION_URL_TEMPLATE=%s is refused',
  (ACTION_URL_TEMPLATE) => {
    expect(() => readApiConfig({ ...REQUIRED, ACTION_URL_TEMPLATE })).toThrow('ACTION_URL_TEMPLATE must be an http');
  },
);

test.each([
  ['api', 'ACTION_URL_TEMPLATE', 'https://user:word@app.example.com/{taskId}', 'must have no user and no password'],
  ['api', 'API_ALLOWED_ORIGINS', 'https://app.example.com:99999', 'must be origins'],
  ['api', 'CONSOLE_FRAME_ANCESTORS', 'https://app.example.com:99999', 'must be origins'],
  ['api', 'HISTORY_URL', 'postgres://herald@10.0.0.5/herald?sslmode=verify_full', 'must be a url with a database'],
  ['worker', 'EGRESS_CA_FILE', import.meta.filename, 'must be a file with certificates in PEM: '],
  ['worker', 'EGRESS_DNS_SERVERS', '10.0.0.53:0', 'must be addresses of name servers: their port is not 0'],
] as const)('of the %s, %s=%s is refused before anything starts', (role, name, text, sentence) => {
  expect(() => READERS[role]({ ...REQUIRED, [name]: text })).toThrow(`${name} ${sentence}`);
});
