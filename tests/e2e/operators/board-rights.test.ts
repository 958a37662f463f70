import { auditTrailOf } from '../../support/audit-trail-of.ts';
import { basic, BOARD, OPERATOR_ENV } from '../../support/operator-client.ts';
import { restoreSnapshot, takeSnapshot } from '../../support/redis-snapshot.ts';
import { sendRawRequests, type RawAnswer, type RawRequest } from '../../support/send-raw-requests.ts';
import type { HeraldProcess } from '../../support/start-herald-process.ts';
import { findChanges } from '../tenancy/find-changes.ts';
import { spellingsOf, type Spelling } from '../tenancy/spellings.ts';
import { BODY, fill, ROUTES } from './board-routes.ts';
import { startScene, type Scene } from './scene.ts';

/** What operators who may write may do, and how the trail names it. Whatever bull-board has beside it, nobody may. */
const ACTS: Readonly<Record<string, { action: string; job?: 'delayed' | 'failed' }>> = {
  'PUT /api/queues/:queueName/pause': { action: 'pauseQueue' },
  'PUT /api/queues/:queueName/resume': { action: 'resumeQueue' },
  'PUT /api/queues/pause': { action: 'pauseQueue' },
  'PUT /api/queues/resume': { action: 'resumeQueue' },
  'PUT /api/queues/:queueName/:jobId/promote': { action: 'redeliverDelivery', job: 'delayed' },
  'PUT /api/queues/:queueName/:jobId/retry': { action: 'redeliverDelivery', job: 'failed' },
};
/** These requests, and no other, are for one of them. */
const PATTERNS = Object.keys(ACTS).map((act) => {
  const path = act.replace('PUT ', BOARD).replaceAll(/:\w+/g, '[^/]+');
  return new RegExp(`^([a-z]+://[^/\\\\]+)?${path}/?([?#].*)?$`, 'i');
});

const CHANGING = ROUTES.filter(({ method }) => method !== 'GET');
const OPERATOR = {
  ...basic(OPERATOR_ENV.OPERATOR_USER, OPERATOR_ENV.OPERATOR_PASSWORD),
  'sec-fetch-site': 'same-origin',
};

let scene: Scene;
let readOnly: HeraldProcess;
let writable: HeraldProcess;
let link: string;
beforeAll(async () => {
  scene = await startScene();
  const [first] = scene.herald.apis;
  if (!first) throw new Error('there is an API');
  readOnly = first;
  writable = await scene.herald.startApi({ OPERATOR_WRITE: 'true' });
  const made = await scene.workspace.request('POST', '/api/public/portal-links', { body: {} });
  link = (made.body as { token: string }).token;
}, 60_000);
afterAll(() => scene[Symbol.asyncDispose]());

function spell({ method, path }: (typeof ROUTES)[number], headers: Readonly<Record<string, string>>): Spelling[] {
  const jobId = scene[path.endsWith('/retry') ? 'failed' : 'delayed'].deliveryId;
  const plain = { method, path: BOARD + fill(path, 'deliveries', jobId), query: '', body: JSON.stringify(BODY) };
  return spellingsOf(plain).map(({ kind, request }) => ({
    kind,
    request: { ...request, headers: { ...request.headers, ...headers } },
  }));
}

const isAct = ({ method, target }: RawRequest) => method === 'PUT' && PATTERNS.some((pattern) => pattern.test(target));
const isRead = ({ method }: Pick<RawRequest, 'method'>) => method === 'GET' || method === 'HEAD';
const isDone = ({ status }: RawAnswer) => status >= 200 && status < 400;

/** Sends what must do nothing, and returns what was done all the same. Reading does nothing. */
async function findActs(via: HeraldProcess, spelled: readonly Spelling[]): Promise<object[]> {
  let answers: readonly RawAnswer[] = [];
  const changes = await findChanges(scene.herald.redis, async () => {
    answers = await sendRawRequests(
      via.origin,
      spelled.map(({ request }) => request),
    );
  });
  const done = spelled.filter(({ request }, index) => {
    const answer = answers[index];
    return answer && (answer.status >= 500 || (isDone(answer) && !isRead(request)));
  });
  return [...done.map(({ kind, request: { method, target } }) => ({ kind, line: `${method} ${target}` })), ...changes];
}

test('bull-board has routes that would change something, and all that operators may do is among them', () => {
  const known = CHANGING.map(({ method, path }) => `${method} ${path}`);
  expect(known.length).toBeGreaterThan(20);
  expect(known).toEqual(expect.arrayContaining(Object.keys(ACTS)));
});

/** All spellings of what operators may do. The others share them between them: each route gets a sixth, another each. */
function spellFor(route: (typeof ROUTES)[number]): Spelling[] {
  const isForSomebody = `${route.method} ${route.path}` in ACTS;
  const turn = CHANGING.indexOf(route);
  return spell(route, OPERATOR).filter((_, index) => isForSomebody || (index + turn) % 6 === 0);
}

describe.each(CHANGING)('$method $path', (route) => {
  test('does nothing in any spelling on a read-only board', async () => {
    expect(await findActs(readOnly, spellFor(route))).toEqual([]);
  });

  test('does nothing but what operators may do, in any spelling, on a board that may write', async () => {
    const spelled = spellFor(route).filter(({ request }) => !isAct(request));
    expect(await findActs(writable, spelled)).toEqual([]);
  });
});

test.each(Object.entries(ACTS))('%s is in the trail as often as it was done, in every spelling', async (act, due) => {
  const route = CHANGING.find(({ method, path }) => `${method} ${path}` === act);
  if (!route) throw new Error(`bull-board has no ${act}`);
  const { redis } = scene.herald;
  const before = await takeSnapshot(redis);
  const readTrail = async () => (await auditTrailOf({ redis }).list({ limit: 500 })).entries;
  const known = (await readTrail()).map(({ id }) => id);
  const spelled = spell(route, OPERATOR);
  const answers = await sendRawRequests(
    writable.origin,
    spelled.map(({ request }) => request),
    1,
  );
  const done = answers.filter((answer, index) => isDone(answer) && !isRead(spelled[index]?.request ?? { method: '' }));
  const entries = (await readTrail()).filter(({ id }) => !known.includes(id));
  await restoreSnapshot(redis, before);
  expect(done.length).toBeGreaterThan(0);
  expect(entries.filter(({ action }) => action === due.action)).toHaveLength(done.length);
  expect(entries).toHaveLength(done.length);
  const target = due.job ? scene[due.job].deliveryId : act.includes(':queueName') ? 'deliveries' : 'every queue';
  for (const entry of entries) {
    expect(entry).toMatchObject({ by: 'operator', user: OPERATOR_ENV.OPERATOR_USER, target, address: '127.0.0.1' });
  }
  const logged = writable.process
    .output()
    .split('\n')
    .filter(
      (line) => line.includes('"audit.entry"') && entries.some(({ requestId }) => line.includes(`"${requestId}"`)),
    );
  expect(logged).toHaveLength(done.length);
});

test.each([
  ['nobody', () => ({})],
  ['a link to the console', () => ({ authorization: `Bearer ${link}` })],
  ['a key', () => ({ authorization: `Bearer ${scene.workspace.key}` })],
  ['an operator on another site', () => ({ ...OPERATOR, 'sec-fetch-site': 'cross-site' })],
  ['an operator from nowhere', () => basic(OPERATOR_ENV.OPERATOR_USER, OPERATOR_ENV.OPERATOR_PASSWORD)],
])('%s does nothing of what operators may do, in any spelling', async (name, headersOf) => {
  const routes = CHANGING.filter(({ method, path }) => `${method} ${path}` in ACTS);
  // Every spelling of some of them.
  const spelled = routes.flatMap((route, turn) =>
    spell(route, headersOf()).filter((_, index) => (index + turn + name.length) % 3 === 0),
  );
  expect(await findActs(writable, spelled)).toEqual([]);
});
