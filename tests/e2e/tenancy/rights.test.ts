import { randomInt } from 'node:crypto';
import { findAnswerBreaches } from '../../support/find-answer-breaches.ts';
import { OPERATOR_ENV } from '../../support/operator-client.ts';
import { restoreSnapshot, takeSnapshot } from '../../support/redis-snapshot.ts';
import { sendRawRequests, type RawAnswer, type RawRequest } from '../../support/send-raw-requests.ts';
import { sized } from '../../support/sized.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { randomOf } from '../fuzz/random.ts';
import { createCallers, mayUse, type Caller } from './callers.ts';
import { findChanges } from './find-changes.ts';
import { CALLS, PAGES, type Call } from './operation-table.ts';
import { fillPath, idsOf, OPERATIONS } from './operations.ts';
import { inhabit, type Inhabited } from './scene.ts';
import { spellingsOf, spellPlainly, type PlainRequest } from './spellings.ts';

const SEED = Number(process.env.RIGHTS_SEED ?? randomInt(2 ** 31));
const SAMPLES = Number(process.env.RIGHTS_SAMPLES ?? sized(50, 100_000));
jest.setTimeout(60_000 + SAMPLES * 5);

/** What somebody may ask for: an operation, or a page that is in no document. */
interface Target {
  name: string;
  method: string;
  /** Matches its path as it is documented, with the one freedom that it may be in capitals or end with a slash. */
  pattern: RegExp;
  scope: (typeof OPERATIONS)[number]['scope'];
  call: Call;
  /** It changes something, or never ends. */
  acts: boolean;
  plain(of: Inhabited): PlainRequest;
}

const TARGETS: readonly Target[] = [
  ...OPERATIONS.map((operation): Target => {
    const { method, path, call } = operation;
    return {
      name: `${method} ${path}`,
      method,
      pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+').replace(/^\/$/, '')}/?$`, 'i'),
      scope: operation.scope,
      call,
      acts: method !== 'GET' || operation.isStream,
      plain: (of) => ({
        method,
        path: fillPath(operation, idsOf(operation, of)),
        query: call.query ?? '',
        ...(call.body && { body: JSON.stringify(call.body(of.ids)) }),
      }),
    };
  }),
  ...Object.entries(PAGES).map(([path, who]): Target => {
    const pattern = new RegExp(`^${path.replace(/\{\/\*path\}$/, '(/.*)?')}/?$`, 'i');
    const plain = { method: 'GET', path: path.replace(/\{.*/, '/x'), query: '' };
    const call = { params: [], ...who };
    return { name: `GET ${path}`, method: 'GET', pattern, scope: undefined, call, acts: false, plain: () => plain };
  }),
];

let herald: Herald;
let victim: Inhabited;
let callers: readonly Caller[];
let received: number;
let addresses = 0;

beforeAll(async () => {
  herald = await startHerald({ env: { ...OPERATOR_ENV, TRUST_PROXY: '1', LOG_LEVEL: 'info' } });
  victim = await inhabit(herald, 'approval-of-the-victim');
  const intruder = await inhabit(herald, 'approval-of-the-intruder');
  const [via] = herald.apis;
  if (!via) throw new Error('there is an API');
  const writable = await herald.startApi({ OPERATOR_WRITE: 'true' });
  await herald.settled();
  // From here on nothing writes to Redis but the API.
  await Promise.all(herald.workers.map((worker) => worker.stop()));
  callers = await createCallers(herald, [victim, intruder], [via, writable]);
  received = countReceived();
}, 60_000);
afterAll(() => herald[Symbol.asyncDispose]());

function countReceived(): number {
  return [victim.receiver, victim.callback].flatMap(({ requests }) => requests).length;
}

/** What was asked, by whom, and how it was spelled. */
interface Asked {
  caller: Caller;
  kind: string;
  request: RawRequest;
}

function ask(caller: Caller, kind: string, request: RawRequest): Asked {
  const count = ++addresses;
  // Each from another address, since the failures of one are limited.
  const from = `10.${(count >> 16) & 255}.${(count >> 8) & 255}.${count & 255}`;
  return {
    caller,
    kind,
    request: { ...request, headers: { ...request.headers, ...caller.headers, 'x-forwarded-for': from } },
  };
}

async function sendAll(asked: readonly Asked[]): Promise<RawAnswer[]> {
  const answers = new Map<Asked, RawAnswer>();
  for (const [{ origin }, some] of Map.groupBy(asked, ({ caller }) => caller.via)) {
    const received = await sendRawRequests(
      origin,
      some.map(({ request }) => request),
    );
    some.forEach((each, index) => answers.set(each, received[index] ?? { status: 0, headers: {}, text: '' }));
  }
  return asked.map((each) => answers.get(each) ?? { status: 0, headers: {}, text: '' });
}

/** The path in a request line: without host, query and fragment. */
const pathIn = (target: string) => target.replace(/^[a-z]+:\/\/[^/\\]*/i, '').replace(/[?#].*/s, '');

/** What a caller may do by this very request. */
function allowedTo({ caller, request: { method, target } }: Asked): Target[] {
  const path = pathIn(target);
  return TARGETS.filter(
    (each) => each.method === (method === 'HEAD' ? 'GET' : method) && each.pattern.test(path) && mayUse(caller, each),
  );
}

const mayAct = (asked: Asked) => allowedTo(asked).some(({ acts }) => acts);

/** In what an answer gives away more than the table says. */
function judge(asked: Asked, { status, headers, text }: RawAnswer): string[] {
  const { method, target } = asked.request;
  const [allowed] = allowedTo(asked);
  if (status >= 500 && !(allowed && isDone(allowed, status))) return [`a ${status}`];
  if (pathIn(target).includes('//') && ![0, 400, 404].includes(status)) return ['a path with doubled slashes is there'];
  if (status === 0 || status >= 400) return [];
  // What may be asked of a page that is for everybody.
  const isPreview = method === 'OPTIONS' && status === 204 && text === '';
  const shown = allowedTo({ ...asked, request: { ...asked.request, method: 'GET' } });
  if (isPreview && shown.some(({ call }) => call.isOpen)) return [];
  if (!allowed) return ['nobody allowed that'];
  if (text.includes('secret of the workspace') && asked.caller.link) return ['a link sees the result of a Task'];
  if (!headers['content-type']?.startsWith('application/json') || text === '') return [];
  const { path } = allowed.plain(victim);
  return findAnswerBreaches({ method, path }, { status, headers, body: JSON.parse(text) });
}

/** Whether it was done. The worker is away: a test event gets no answer, and the service isn't ready. */
function isDone({ name }: Target, status: number): boolean {
  return (status >= 200 && status < 300) || (status === 503 && /^GET \/readyz$|\/test$/.test(name));
}

/** Sends what must do nothing, and returns what it did. */
async function findBreaches(asked: readonly Asked[]): Promise<object[]> {
  let answers: readonly RawAnswer[] = [];
  const changes = await findChanges(herald.redis, async () => {
    answers = await sendAll(asked);
  });
  const breaches = asked.flatMap(({ caller, kind, request }, index) => {
    const answer = answers[index];
    const problems = answer ? judge({ caller, kind, request }, answer) : ['no answer'];
    if (problems.length === 0) return [];
    const { method, target } = request;
    return [{ by: caller.name, kind, line: `${method} ${target}`, status: answer?.status, problems }];
  });
  return [...breaches, ...changes];
}

test('every operation has a place in the table, every place has an operation, and every one is for somebody', () => {
  expect(Object.keys(CALLS).sort()).toEqual(OPERATIONS.map(({ id }) => id).sort());
  const unused = TARGETS.filter((target) => !callers.some((caller) => mayUse(caller, target)));
  expect(unused.map(({ name }) => name)).toEqual([]);
});

test('there are enough spellings, and none is there twice', () => {
  const all = spellingsOf({ method: 'POST', path: '/api/public/webhooks/wh_x/test', query: '', body: '{}' });
  const ofTarget = all.map(({ request }) => JSON.stringify(request));
  expect(new Set(all.map(({ kind }) => kind)).size).toBeGreaterThan(120);
  expect(all.length - new Set(ofTarget).size).toBeLessThan(12);
});

/** Who might gain something by another spelling. */
function spellersOf({ call: { isOpen, isOperators, isOperatorLinks } }: Target): Caller[] {
  const other = isOperators ? 'an operator who reads' : isOperatorLinks ? 'a writing link' : 'a read-only link';
  return callers.filter(({ name }) => name === 'nobody' || (name === other && !isOpen));
}

/**
 * How many targets share the spellings between them: each target gets some, and each spelling is tried on some. Only of
 * what acts is every spelling tried by who has some rights. What is drawn has all the others.
 */
function shareOf({ acts }: Target, { name }: Caller): number {
  if (name === 'nobody') return 4;
  return acts ? 1 : 3;
}

describe.each(TARGETS)('$name', (target) => {
  test('does what it is for, for everybody whom the table allows, and nothing for others', async () => {
    const asked = callers.map((caller) => ask(caller, 'as documented', spellPlainly(target.plain(victim))));
    const idle = asked.filter((each) => !mayAct(each));
    let answers: readonly RawAnswer[] = [];
    const changes = await findChanges(herald.redis, async () => {
      answers = await sendAll(idle);
    });
    expect(changes).toEqual([]);
    const seen = idle.map(({ caller }, index) => `${caller.name}: ${describeAnswer(target, answers[index])}`);
    const due = idle.map(({ caller }) => `${caller.name}: ${mayUse(caller, target) ? 'done' : 'refused'}`);
    expect(seen).toEqual(due);
    const acting = asked.filter((each) => allowedTo(each).some(({ method }) => method !== 'GET'));
    const before = await takeSnapshot(herald.redis);
    for (const each of acting) {
      const [answer] = await sendAll([each]);
      expect(`${each.caller.name}: ${describeAnswer(target, answer)}`).toBe(`${each.caller.name}: done`);
      await restoreSnapshot(herald.redis, before);
    }
  });

  test('does nothing that the table does not allow, in any spelling', async () => {
    const turn = TARGETS.indexOf(target);
    const asked = spellersOf(target).flatMap((caller) =>
      spellingsOf(target.plain(victim))
        .filter((_, index) => (index + turn) % shareOf(target, caller) === 0)
        .map(({ kind, request }) => ask(caller, kind, request)),
    );
    expect(await findBreaches(asked.filter((each) => !mayAct(each)))).toEqual([]);
  });
});

function describeAnswer(target: Target, answer: RawAnswer | undefined): string {
  const { status, text } = answer ?? { status: 0, text: '' };
  if (isDone(target, status)) return 'done';
  return [401, 403, 404].includes(status) ? 'refused' : `${status} ${text}`;
}

test(`${SAMPLES} requests of any caller, in any spelling and two at once, do nothing that the table does not allow`, async () => {
  process.stderr.write(`rights: seed ${SEED}\n`);
  const asked = Array.from({ length: SAMPLES }, (_, index) => {
    const random = randomOf(SEED, index);
    const target = random.pick(TARGETS);
    const caller = random.pick(callers);
    if (!target || !caller) throw new Error('there are targets and callers');
    const plain = target.plain(victim);
    const first = random.pick(spellingsOf(plain));
    // The second changes the path that the first has left.
    const path = first?.request.target.replace(/\?.*/s, '') ?? '';
    const isTwice = path.startsWith('/') && random.chance(0.4);
    const second = isTwice ? random.pick(spellingsOf({ ...plain, path })) : undefined;
    const spelled = second ?? first;
    if (!spelled) throw new Error('there are spellings');
    const kind = second ? `${first?.kind ?? ''}, ${second.kind}` : spelled.kind;
    return ask(caller, kind, spelled.request);
  });
  const found = await findBreaches(asked.filter((each) => !mayAct(each)));
  expect({ seed: SEED, found }).toEqual({ seed: SEED, found: [] });
});

test('when a worker comes back nothing was left for it to send', async () => {
  await herald.startWorker();
  await herald.settled();
  expect(countReceived()).toBe(received);
});
