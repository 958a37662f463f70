import { createApiKeyStore } from '@herald/store/access/api-key-store';
import { waitFor } from '@herald/test-kit';
import { bodyOf, type RequestOptions } from '../../support/http-request.ts';
import { sendRawRequests } from '../../support/send-raw-requests.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';

/** As `log-requests.ts` has it. */
const LINES = 20;
const WINDOW_MS = 10_000;

interface Line {
  message: string;
  level: string;
  status?: number;
  by?: string;
  address?: string;
  reason?: string;
  lines?: number;
  withinMs?: number;
}

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald({ workers: 0, env: { TRUST_PROXY: '1', LOG_LEVEL: 'info', RATE_LIMIT: '1' } });
});
afterAll(() => herald[Symbol.asyncDispose]());

function linesOf(address: string, message = 'request.answered'): Line[] {
  const written = (herald.apis[0]?.process.output() ?? '').split('\n').filter((line) => line.startsWith('{'));
  const lines = written.map((line) => JSON.parse(line) as Line);
  return lines.filter((line) => line.message === message && line.address === address);
}

const RECEIVERS = '/api/public/webhooks';

test('whoever is refused is named in the log, with his address', async () => {
  const keys = createApiKeyStore({ redis: herald.redis, now: Date.now });
  const { key, record } = await keys.create({ workspaceId: 'ws_named', scopes: ['webhooks'] });
  const other = await keys.create({ workspaceId: 'ws_other', scopes: ['webhooks'] });
  const made = await herald.request('POST', '/api/public/portal-links', { key: other.key, body: { readOnly: true } });
  const { token } = bodyOf(made, 201) as { token: string };
  const address = '192.0.2.10';
  const send = async (method: string, path: string, options: RequestOptions) =>
    (await herald.request(method, path, { ...options, headers: { 'x-forwarded-for': address } })).status;
  expect(await send('GET', RECEIVERS, {})).toBe(401);
  expect(await send('GET', RECEIVERS, { key: 'hrld_nonsense' })).toBe(401);
  expect(await send('POST', '/tasks', { key, body: {} })).toBe(403);
  expect(await send('POST', RECEIVERS, { key: token, body: {} })).toBe(403);
  expect(await send('GET', `${RECEIVERS}?x=1`, { key })).toBe(422);
  await waitFor('the limit', async () => (await send('GET', `${RECEIVERS}/wh_x`, { key })) === 429);
  expect(await send('GET', `${RECEIVERS}//`, { key })).toBe(404);
  const seen = await waitFor('the lines', () => linesOf(address), { until: (lines) => lines.some(isUnknownPath) });
  const who = (status: number) => new Set(seen.filter((line) => line.status === status).map(({ by }) => by));
  expect(who(401)).toEqual(new Set([undefined]));
  expect(who(403)).toEqual(new Set([record.id, expect.stringMatching(/^plk_/)]));
  expect(who(422)).toEqual(new Set([record.id]));
  expect(who(429)).toEqual(new Set([record.id]));
  expect(herald.logs()).not.toContain(key);
  expect(herald.logs()).not.toContain(token);
});

const isUnknownPath = ({ status, by }: Line) => status === 404 && by === undefined;

test('one address can not flood the log: of each reason a few lines, then how many more there were', async () => {
  const [flooding, calm] = ['192.0.2.20', '192.0.2.21'];
  const origin = herald.apis[0]?.origin ?? '';
  const refuse = async (target: string, count: number, address: string) => {
    const headers = { 'x-forwarded-for': address };
    await sendRawRequests(
      origin,
      Array.from({ length: count }, () => ({ method: 'GET', target, headers })),
    );
  };
  await refuse('/nothing', 500, flooding);
  await refuse(RECEIVERS, 50, flooding);
  await refuse('/nothing', 1, calm);
  await waitFor('the line of another address', () => linesOf(calm).length === 1);
  const of = (status: number) => linesOf(flooding).filter((line) => line.status === status);
  expect([of(404).length, of(401).length]).toEqual([LINES, LINES]);
  const told = await waitFor('the counts', () => linesOf(flooding, 'request.refusals_not_logged'), {
    until: (lines) => lines.length === 2,
    deadlineMs: WINDOW_MS * 2,
  });
  const counts = new Map(told.map(({ reason, lines }) => [reason, lines]));
  expect(counts).toEqual(
    new Map([
      ['route_not_found', 500 - LINES],
      ['unauthenticated', 50 - LINES],
    ]),
  );
  expect(told.map(({ level, withinMs }) => ({ level, withinMs }))).toEqual(
    Array.from({ length: 2 }, () => ({ level: 'info', withinMs: WINDOW_MS })),
  );
  expect(linesOf(calm, 'request.refusals_not_logged')).toEqual([]);
  // After the window it is heard again.
  await refuse('/nothing', 1, flooding);
  await waitFor('a line again', () => of(404).length === LINES + 1);
});
