import { readWorkerConfig } from '@herald/config/worker-config';
import { createMetricsRegistry } from '@herald/runtime/metrics';
import { freePort } from '@herald/test-kit';
import { findEgressProblem, openEgress } from './egress.ts';

const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');

function open(env: NodeJS.ProcessEnv) {
  const lines: string[] = [];
  const note =
    (level: string) =>
    (event: string, fields: object = {}) =>
      void lines.push(`${level} ${event} ${JSON.stringify(fields)}`);
  const logger = { error: note('error'), warn: note('warn'), info: note('info'), debug: note('debug') };
  const registry = createMetricsRegistry('worker');
  const config = readWorkerConfig({ SECRETS_KEY, EGRESS_ALLOW_CIDRS: '127.0.0.0/8', DELIVERY_TIMEOUT: '2s', ...env });
  const egress = openEgress({ config, logger, registry });
  const send = async (url: string) =>
    (await egress.send({ url, headers: {}, body: Buffer.from('{}') }).catch((error: unknown) => ({ outcome: error })))
      .outcome;
  return { egress, registry, lines, send };
}

test('a resolver that is away is told in the log, the metrics and the readiness, and costs nobody a try', async () => {
  const { egress, registry, lines, send } = open({ EGRESS_DNS_SERVERS: `127.0.0.1:${await freePort()}` });
  try {
    expect(await send('https://receiver.test/')).toMatchObject({ reason: 'resolver_away' });
    expect(lines).toEqual([expect.stringContaining('warn egress.failed {"reason":"resolver_away"')]);
    const metrics = await registry.metrics();
    expect(metrics).toMatch(/herald_egress_failures_total\{[^}]*reason="resolver_away"[^}]*\} 1/);
    expect(metrics).toMatch(/herald_egress_up(\{[^}]*\})? 0/);
    expect(findEgressProblem(egress.gate, undefined)).toMatchObject({ level: 'error', code: 'egress_away' });
  } finally {
    egress.close();
  }
});

test('EGRESS_DENY_CIDRS closes a part of what EGRESS_ALLOW_CIDRS opens', async () => {
  const { egress, send } = open({ EGRESS_DENY_CIDRS: '127.0.0.9/32' });
  const port = await freePort();
  try {
    expect(await send(`https://127.0.0.9:${port}/`)).toMatchObject({ kind: 'blocked' });
    expect(await send(`https://127.0.0.1:${port}/`)).toMatchObject({ reason: 'connection_refused' });
  } finally {
    egress.close();
  }
});
