import { setTimeout as pause } from 'node:timers/promises';
import { createCertificateAuthority, waitFor } from '@herald/test-kit';
import {
  type ApiClient,
  atPace,
  checkIn,
  openApiClient,
  type ReportedItem,
  reportInBatches,
  START,
} from '../clients.ts';
import { createKeys } from '../prepare-workspaces.ts';
import type { Scenario } from '../run-scenarios.ts';
import { createHeraldEnv, type HeraldEnv, startApi, startBenchRedis, startWorker } from '../start-herald.ts';
import { startReceivers } from '../start-receivers.ts';
import { judgeOnce } from '../targets.ts';
import { type CpuReading, startCpuReading } from '../usage.ts';

/** What open pages of the console cost while nobody touches them. */
export const consolePages: Scenario = async ({ options: { seconds }, say }) => {
  say(`console, ${PAGES} pages, twice ${seconds} s`);
  const figures = await measureConsole(seconds);
  const { open, idle, requests } = figures;
  const toPercent = (share: number) => share * 100;
  const rows = (['api', 'redis'] as const).map((of) => [
    of === 'api' ? 'API' : 'Redis',
    toPercent(open[of]),
    toPercent(idle[of]),
    toPercent(open[of] - idle[of]),
  ]);
  const table = {
    title: `Console: ${PAGES} open pages, % of a core, ${seconds} s`,
    columns: ['process', 'with the pages', 'without', 'for the pages'],
    rows,
    notes: [
      `${requests} times a page asked whether anything happened; each reads its lists and charts every five minutes. Nothing happens meanwhile.`,
    ],
  };
  return {
    tables: [table],
    raw: { figures },
    targets: [
      judgeOnce('consoleCpu', `console: API, % of a core for ${PAGES} pages`, toPercent(open.api - idle.api)),
      judgeOnce('consoleCpu', `console: Redis, % of a core for ${PAGES} pages`, toPercent(open.redis - idle.redis)),
    ],
  };
};

/** Open pages. Each has a portal link of its own. */
const PAGES = 100;
const WORKSPACES = 25;
const RECEIVERS = 3;
const DELIVERIES = 100;
/** A page that nobody touches asks every 20 seconds whether anything happened, and reads its lists and charts every five minutes. */
const EVERY_MS = 20_000;
const TURNS_PER_READ = 15;
/** Turns of every page before the measurement: the first requests of a process cost several times as much. */
const WARM_UP_TURNS = 30;
const DELIVERED_DEADLINE_MS = 120_000;

type Page = { readonly client: ApiClient; readonly activity: string; readonly reads: readonly string[] };
type Shares = CpuReading<'api' | 'redis'>;
/** CPU time as a share of a core. */
type ConsoleFigures = { readonly open: Shares; readonly idle: Shares; readonly requests: number };

/** What pages that nobody touches cost an API that does nothing else, and what it uses without them. */
async function measureConsole(seconds: number): Promise<ConsoleFigures> {
  const ca = await createCertificateAuthority();
  await using redis = await startBenchRedis();
  await using env = await createHeraldEnv(redis.url, ca);
  await using receivers = await startReceivers({ ca, behaviours: new Array(RECEIVERS).fill('ok') as 'ok'[] });
  const urls = receivers.origins.map((origin) => `${origin}/hook`);
  const tokens = await prepare(env, urls, async (count) => {
    await waitFor('all deliveries', receivers.count, {
      until: (delivered) => delivered >= count,
      deadlineMs: DELIVERED_DEADLINE_MS,
    });
  });
  // With a rate limit, as in production: it counts every request in Redis.
  await using api = await startApi({ env, variables: { RATE_LIMIT: '100' } });
  await using open = new AsyncDisposableStack();
  const pages: Page[] = [];
  for (const [index, token] of tokens.entries()) {
    const client = open.use(openApiClient({ port: api.port, key: token, connections: 1 }));
    pages.push({ client, ...(await choosePage(client, index)) });
  }
  const poll = async (turn: number, index: number) => {
    const page = pages[index % PAGES];
    if (!page) return;
    await page.client.call('GET', page.activity);
    if ((turn + index) % TURNS_PER_READ === 0) for (const path of page.reads) await page.client.call('GET', path);
  };
  for (let turn = 0; turn < WARM_UP_TURNS; turn++) await Promise.all(pages.map((_, index) => poll(turn, index)));

  const measure = async (work: () => Promise<unknown>): Promise<Shares> => {
    const read = startCpuReading({ api: api.pid, redis: redis.pid });
    const startedAt = performance.now();
    await work();
    const tookMs = performance.now() - startedAt;
    const used = read();
    return { api: used.api / tookMs, redis: used.redis / tookMs };
  };
  const idle = await measure(() => pause(seconds * 1_000));
  const turns = Math.ceil((seconds * 1_000) / EVERY_MS);
  const requests = turns * PAGES;
  const everyMs = EVERY_MS / PAGES;
  const withPages = await measure(() =>
    atPace(everyMs, requests, (index) => poll(Math.floor(index / PAGES), index % PAGES)),
  );
  return { open: withPages, idle, requests };
}

/** Fills the workspaces, and makes a portal link for every page. A process without a rate limit does it, and ends. */
async function prepare(env: HeraldEnv, urls: readonly string[], untilDelivered: (count: number) => Promise<void>) {
  const ids = Array.from({ length: WORKSPACES }, (_, index) => `ws_bench${index}`);
  await using api = await startApi({ env });
  await using worker = await startWorker({ env });
  const { executorKey, workspaceKeys } = await createKeys(env, ids);
  await using executor = openApiClient({ port: api.port, key: executorKey, connections: 4 });
  const tokens: string[] = [];
  for (const id of ids) {
    await using customer = openApiClient({ port: api.port, key: workspaceKeys.get(id) ?? '', connections: 4 });
    for (const url of urls) await customer.call('POST', '/api/public/webhooks', { url });
    const { id: taskId } = (await customer.call('POST', '/tasks', {})) as { id: string };
    const reports = [START, ...Array.from({ length: DELIVERIES }, (_, index) => checkIn(index))];
    const items = reports.map((report): ReportedItem => ({ taskId, report }));
    await reportInBatches(executor, items, { batch: items.length, width: 1 });
    for (let page = 0; page < PAGES / WORKSPACES; page++) {
      const link = (await customer.call('POST', '/api/public/portal-links', {})) as { token: string };
      tokens.push(link.token);
    }
  }
  await untilDelivered(WORKSPACES * DELIVERIES * urls.length);
  await worker.stop();
  return tokens;
}

/** Every other page is that of a receiver; the others are the list of receivers. */
async function choosePage(client: ApiClient, index: number): Promise<Omit<Page, 'client'>> {
  const { webhooks } = (await client.call('GET', '/api/public/webhooks')) as { webhooks: { id: string }[] };
  const paths = webhooks.map(({ id }) => `/api/public/webhooks/${id}`);
  const [first = ''] = paths;
  const ofReceiver = ['', '/deliveries?limit=50', '/stats?window=24h'].map((path) => `${first}${path}`);
  const ofAll = ['/api/public/webhooks', ...paths.map((path) => `${path}/stats?window=24h`)];
  return index % 2 === 0
    ? { activity: `/api/public/activity?receiver=${webhooks[0]?.id ?? ''}`, reads: ofReceiver }
    : { activity: '/api/public/activity', reads: ofAll };
}
