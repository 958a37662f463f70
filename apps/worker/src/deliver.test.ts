import { createRetryPolicy, PLATFORM, type AttemptOutcome, type Delivery, type NoticeDraft } from '@herald/core';
import type { EndpointRecord } from '@herald/store/endpoints/endpoint-record';
import type { RecordReply } from '@herald/store/deliveries/delivery-store';
import type { JobEnd } from '@herald/queue';
import { processDelivery, type DeliveryTurn, type ProcessDeliveryDeps, type ProcessVerdict } from './deliver.ts';

const NOW = 1_800_000_000_000;
const DAY_MS = 86_400_000;
const LEASE = 'lease';
const SCHEDULE_MS = [5_000, 300_000];
const HOUR_MS = 3_600_000;
const WITHOUT_JITTER = 0.5;

const delivery: Delivery = {
  id: 'dlv_1',
  workspaceId: 'ws_1',
  endpointId: 'wh_1',
  transitionId: 'trn_1',
  event: 'task.done',
  status: 'pending',
  createdAt: NOW,
  tries: 0,
  nextAttemptAt: NOW,
  scheduledAt: NOW,
  owedAttempts: 0,
};
const endpoint: EndpointRecord = {
  id: 'wh_1',
  workspaceId: 'ws_1',
  url: 'https://hooks.example.com/in',
  events: [],
  description: '',
  enabled: true,
  createdAt: NOW,
  origin: 'ori',
  group: 'wh_x',
  encryptedSecret: 'encrypted',
  health: { consecutiveFailures: 0 },
};

type Facts = {
  delivery?: Partial<Delivery>;
  endpoint?: Partial<EndpointRecord> | 'removed';
  load?: 'missing' | 'body_lost' | 'ended';
  /** Default: answers 200. */
  outcome?: AttemptOutcome;
  /** What the record script says. Default: what follows from the verdict. */
  reply?: Partial<RecordReply>;
  aborted?: boolean;
  stopping?: boolean;
};

const responded = (status: number, retryAfter?: string): AttemptOutcome => ({
  kind: 'responded',
  status,
  answer: '',
  ...(retryAfter !== undefined && { retryAfter }),
});
const timedOut: AttemptOutcome = { kind: 'timed_out', phase: 'response' };

/** The processor among fakes that write down what it asks of them. */
function prepare(facts: Facts) {
  const asked: string[] = [];
  const reported: string[] = [];
  const note = (what: string) => {
    asked.push(what);
    return Promise.resolve();
  };
  const deps: ProcessDeliveryDeps = {
    deliveries: {
      load: () => {
        if (facts.load) return Promise.resolve({ kind: facts.load });
        return Promise.resolve({
          kind: 'loaded',
          delivery: { ...delivery, ...facts.delivery },
          body: Buffer.from('{}'),
          ...(facts.endpoint !== 'removed' && { endpoint: { ...endpoint, ...facts.endpoint } }),
        });
      },
      async record({ verdict, answered, gone, isProbe, isRedelivery, holdUntil, lease, groupLimit }) {
        expect([lease, groupLimit]).toEqual([LEASE, 7]);
        const flags = Object.entries({ answered, gone, isProbe, isRedelivery, held: holdUntil !== undefined });
        await note(['record', verdict.kind, ...flags.flatMap(([name, is]) => (is ? [name] : []))].join(' '));
        const status = verdict.kind === 'retry' ? 'pending' : verdict.kind;
        return { kind: 'recorded', status, pendingRedeliveries: 0, ...facts.reply };
      },
      cancel: async (_id, reason) => {
        await note(`cancel ${reason}`);
        return { kind: 'ended', event: 'task.done' };
      },
      giveUp: async () => {
        await note('give up');
        return { kind: 'ended', event: 'task.done' };
      },
    },
    makeAttempt: async () => {
      await note('send');
      return { outcome: facts.outcome ?? responded(200), startedAt: NOW, durationMs: 5, keyIds: [] };
    },
    retryPolicies: { usual: createRetryPolicy(SCHEDULE_MS), callbacks: createRetryPolicy([7_000]) },
    disableAfterMs: 5 * DAY_MS,
    groupLimit: 7,
    platform: undefined,
    report: {
      attempted: ({ loaded, reply }) => reported.push(`${loaded.delivery.id} ${reply.status ?? reply.kind}`),
      ended: ({ id }, status, reason) => reported.push(`${id} ${status} ${reason}`),
      bodyLost: (id) => reported.push(`${id} body_lost`),
      purged: () => undefined,
      told: (_draft, event, { id }) => reported.push(`${id} ${event}`),
      noticeLeft: (id) => reported.push(`${id} left`),
    },
    isStopping: () => facts.stopping ?? false,
    now: () => NOW,
    random: () => WITHOUT_JITTER,
  };
  return { deps, asked, reported, signal: facts.aborted ? AbortSignal.abort() : new AbortController().signal };
}

const FINISHED: ProcessVerdict = { kind: 'finished' };
const PUT_BACK: ProcessVerdict = { kind: 'put_back' };
const recorded = (end: JobEnd): ProcessVerdict => ({ kind: 'recorded', end });

/** What must be told of: whatever changed a record. */
function countFacts(asked: readonly string[]): number {
  const changes = asked.filter((what) => /^(record|cancel|give up)/.test(what)).length;
  return asked.includes('cancel body_lost') ? changes + 1 : changes;
}

type Case = { when: string; facts: Facts; isProbe?: true; verdict: ProcessVerdict; asked: string[] };

const CASES: Case[] = [
  { when: 'its record is gone', facts: { load: 'missing' }, verdict: FINISHED, asked: [] },
  { when: 'its body was erased', facts: { load: 'ended' }, verdict: FINISHED, asked: [] },
  { when: 'its body is lost', facts: { load: 'body_lost' }, verdict: FINISHED, asked: ['cancel body_lost'] },
  { when: 'it is delivered', facts: { delivery: { status: 'delivered' } }, verdict: FINISHED, asked: [] },
  { when: 'it has failed', facts: { delivery: { status: 'failed' } }, verdict: FINISHED, asked: [] },
  { when: 'it was canceled', facts: { delivery: { status: 'canceled' } }, verdict: FINISHED, asked: [] },
  {
    when: 'its endpoint is gone',
    facts: { endpoint: 'removed' },
    verdict: FINISHED,
    asked: ['cancel receiver_removed'],
  },
  {
    when: 'its endpoint is disabled',
    facts: { endpoint: { enabled: false } },
    verdict: FINISHED,
    asked: ['cancel receiver_disabled'],
  },
  {
    when: 'a redelivery is pending, but its endpoint is disabled',
    facts: { delivery: { status: 'failed', owedAttempts: 1 }, endpoint: { enabled: false } },
    verdict: FINISHED,
    asked: ['cancel receiver_disabled'],
  },
  {
    when: 'it isn’t due',
    facts: { delivery: { nextAttemptAt: NOW + 51 } },
    verdict: FINISHED,
    asked: [],
  },
  {
    when: 'it is due but for the difference of two clocks',
    facts: { delivery: { nextAttemptAt: NOW + 50 } },
    verdict: recorded('answered'),
    asked: ['send', 'record delivered answered'],
  },
  {
    when: 'its time is up',
    facts: { delivery: { scheduledAt: NOW - 5 * DAY_MS - 1 } },
    verdict: FINISHED,
    asked: ['give up'],
  },
  {
    when: 'its time is up while it waited for its turn',
    facts: { delivery: { scheduledAt: NOW - 5 * DAY_MS - 1, place: 2 } },
    verdict: recorded('answered'),
    asked: ['send', 'record delivered answered'],
  },
  {
    when: 'its time is up since its turn came',
    facts: { delivery: { scheduledAt: NOW - 9 * DAY_MS, nextAttemptAt: NOW - 5 * DAY_MS - 1, place: 2 } },
    verdict: FINISHED,
    asked: ['give up'],
  },
  {
    when: 'its time is just not up since its turn came',
    facts: { delivery: { scheduledAt: NOW - 9 * DAY_MS, nextAttemptAt: NOW - 5 * DAY_MS, place: 2 } },
    verdict: recorded('answered'),
    asked: ['send', 'record delivered answered'],
  },
  {
    when: 'its time is up after it had its turn',
    facts: { delivery: { scheduledAt: NOW - 5 * DAY_MS - 1, place: 2, tries: 1 } },
    verdict: FINISHED,
    asked: ['give up'],
  },
  {
    when: 'its time is up, and a redelivery is pending',
    facts: { delivery: { scheduledAt: NOW - 5 * DAY_MS - 1, owedAttempts: 1 } },
    verdict: recorded('answered'),
    asked: ['send', 'record delivered answered isRedelivery'],
  },
  {
    when: 'its receiver’s hours are up',
    facts: { delivery: { scheduledAt: NOW - 2 * HOUR_MS - 1 }, endpoint: { maxRetryHours: 2 } },
    verdict: FINISHED,
    asked: ['give up'],
  },
  {
    when: 'its receiver’s hours are just not up',
    facts: { delivery: { scheduledAt: NOW - 2 * HOUR_MS }, endpoint: { maxRetryHours: 2 } },
    verdict: recorded('answered'),
    asked: ['send', 'record delivered answered'],
  },
  {
    when: 'its receiver’s hours are up, and a redelivery is pending',
    facts: { delivery: { scheduledAt: NOW - 2 * HOUR_MS - 1, owedAttempts: 1 }, endpoint: { maxRetryHours: 2 } },
    verdict: recorded('answered'),
    asked: ['send', 'record delivered answered isRedelivery'],
  },
  {
    when: 'the next try would come after its receiver’s hours',
    facts: {
      delivery: { scheduledAt: NOW - HOUR_MS + 4_999 },
      endpoint: { maxRetryHours: 1 },
      outcome: responded(500),
    },
    verdict: recorded('answered'),
    asked: ['send', 'record failed answered'],
  },
  {
    when: 'the schedule of callbacks is used up',
    facts: { delivery: { tries: 1 }, endpoint: { id: 'cb_1' }, outcome: responded(500) },
    verdict: recorded('answered'),
    asked: ['send', 'record failed answered'],
  },
  { when: 'the worker must end', facts: { aborted: true }, verdict: PUT_BACK, asked: [] },
  {
    when: 'it is answered with 200',
    facts: {},
    verdict: recorded('answered'),
    asked: ['send', 'record delivered answered'],
  },
  {
    when: 'it is answered with 500',
    facts: { outcome: responded(500) },
    verdict: recorded('answered'),
    asked: ['send', 'record retry answered'],
  },
  {
    when: 'the second try is answered with 500',
    facts: { outcome: responded(500), delivery: { tries: 1 } },
    verdict: recorded('answered'),
    asked: ['send', 'record retry answered'],
  },
  {
    when: 'the last try is answered with 500',
    facts: { outcome: responded(500), delivery: { tries: 2 } },
    verdict: recorded('answered'),
    asked: ['send', 'record failed answered'],
  },
  {
    when: 'it is answered with 410 and its endpoint is disabled by that',
    facts: { outcome: responded(410), reply: { status: 'canceled', disabled: 'gone' } },
    verdict: recorded('answered'),
    asked: ['send', 'record retry answered gone'],
  },
  {
    when: 'it is answered with 503 and Retry-After',
    facts: { outcome: responded(503, '60') },
    verdict: recorded('answered'),
    asked: ['send', 'record retry answered held'],
  },
  {
    when: 'it times out',
    facts: { outcome: timedOut },
    verdict: recorded('unanswered'),
    asked: ['send', 'record retry'],
  },
  {
    when: 'the connection is refused',
    facts: { outcome: { kind: 'unreachable', reason: 'connection_refused' } },
    verdict: recorded('unanswered'),
    asked: ['send', 'record retry'],
  },
  {
    when: 'the answer is malformed',
    facts: { outcome: { kind: 'unreachable', reason: 'malformed_answer' } },
    verdict: recorded('answered'),
    asked: ['send', 'record retry answered'],
  },
  {
    when: 'its address is blocked',
    facts: { outcome: { kind: 'blocked' } },
    verdict: recorded('unsent'),
    asked: ['send', 'record retry'],
  },
  {
    when: 'it is cut off by a stop',
    facts: { outcome: { kind: 'aborted' } },
    verdict: PUT_BACK,
    asked: ['send'],
  },
  {
    when: 'it times out while the worker stops',
    facts: { outcome: timedOut, stopping: true },
    verdict: PUT_BACK,
    asked: ['send'],
  },
  {
    when: 'it was canceled while it was sent',
    facts: { outcome: responded(500), reply: { kind: 'superseded', status: 'canceled' } },
    verdict: recorded('answered'),
    asked: ['send', 'record retry answered'],
  },
  {
    when: 'another attempt moved it on meanwhile',
    facts: { outcome: responded(500), reply: { kind: 'superseded', status: 'pending' } },
    verdict: recorded('answered'),
    asked: ['send', 'record retry answered'],
  },
  {
    when: 'a redelivery was asked for while it was sent',
    facts: { reply: { pendingRedeliveries: 1 } },
    verdict: recorded('answered'),
    asked: ['send', 'record delivered answered'],
  },
  {
    when: 'it is delivered and a redelivery is pending',
    facts: { delivery: { status: 'delivered', owedAttempts: 1 } },
    verdict: recorded('answered'),
    asked: ['send', 'record delivered answered isRedelivery'],
  },
  {
    when: 'it waits for a later try and a redelivery is pending',
    facts: { delivery: { nextAttemptAt: NOW + DAY_MS, owedAttempts: 1, tries: 1 }, outcome: responded(500) },
    verdict: recorded('answered'),
    asked: ['send', 'record retry answered isRedelivery'],
  },
  {
    when: 'it is a probe and times out',
    facts: { outcome: timedOut },
    isProbe: true,
    verdict: recorded('unanswered'),
    asked: ['send', 'record retry isProbe'],
  },
];

function turn(more: Partial<DeliveryTurn> = {}): DeliveryTurn {
  return { id: delivery.id, lease: LEASE, isProbe: false, ...more };
}

test.each(CASES)('$when: $verdict.kind', async ({ facts, isProbe = false, verdict, asked }) => {
  const { deps, signal, ...seen } = prepare(facts);
  expect(await processDelivery(deps, turn({ isProbe }), signal)).toEqual(verdict);
  expect(seen.asked).toEqual(asked);
  expect(seen.reported).toHaveLength(countFacts(asked));
});

test('what was read when it was reserved is not read again', async () => {
  const { deps, asked, signal } = prepare({});
  const loaded = await deps.deliveries.load(delivery.id);
  const load = () => Promise.reject(new Error('it was read'));
  const verdict = await processDelivery(
    { ...deps, deliveries: { ...deps.deliveries, load } },
    turn({ loaded }),
    signal,
  );
  expect(verdict).toEqual(recorded('answered'));
  expect(asked).toEqual(['send', 'record delivered answered']);
});

test('what could not be read when it was reserved is read now', async () => {
  const { deps, signal } = prepare({});
  expect(await processDelivery(deps, turn({ loaded: undefined }), signal)).toEqual(recorded('answered'));
});

test.each([
  { id: 'wh_1', waitMs: 5_000 },
  { id: 'cb_1', waitMs: 7_000 },
])('the first retry to $id comes after $waitMs ms', async ({ id, waitMs }) => {
  const { deps, signal } = prepare({ endpoint: { id }, outcome: responded(500) });
  const verdicts: unknown[] = [];
  const record: ProcessDeliveryDeps['deliveries']['record'] = async (attempt) => {
    verdicts.push(attempt.verdict);
    return await deps.deliveries.record(attempt);
  };
  await processDelivery({ ...deps, deliveries: { ...deps.deliveries, record } }, turn(), signal);
  expect(verdicts).toEqual([{ kind: 'retry', at: NOW + waitMs }]);
});

test('a test event that is redelivered gets one attempt, which says nothing about the endpoint', async () => {
  const { deps, signal } = prepare({
    delivery: { event: 'webhook.test', status: 'failed', owedAttempts: 1 },
    outcome: responded(500),
  });
  const attempts: unknown[] = [];
  const record: ProcessDeliveryDeps['deliveries']['record'] = async (attempt) => {
    attempts.push([attempt.verdict, attempt.disableAfterMs]);
    return await deps.deliveries.record(attempt);
  };
  await processDelivery({ ...deps, deliveries: { ...deps.deliveries, record } }, turn(), signal);
  expect(attempts).toEqual([[{ kind: 'failed', reason: 'schedule_exhausted' }, undefined]]);
});

test.each([undefined, NOW - 1])('an attempt is recorded as one at the url that was set at %p', async (urlChangedAt) => {
  const { deps, signal } = prepare({ endpoint: urlChangedAt === undefined ? {} : { urlChangedAt } });
  const urls: unknown[] = [];
  const record: ProcessDeliveryDeps['deliveries']['record'] = async (attempt) => {
    urls.push(attempt.urlChangedAt);
    return await deps.deliveries.record(attempt);
  };
  await processDelivery({ ...deps, deliveries: { ...deps.deliveries, record } }, turn(), signal);
  expect(urls).toEqual([urlChangedAt]);
});

describe('notices', () => {
  const platform: EndpointRecord = { ...endpoint, id: PLATFORM, workspaceId: PLATFORM, group: PLATFORM };
  const notice: Facts = { delivery: { event: 'receiver.failing', endpointId: PLATFORM }, endpoint: 'removed' };

  /** Processes with these dependencies changed, and returns what was recorded. */
  async function run(facts: Facts, more: Partial<ProcessDeliveryDeps>) {
    const { deps, signal, asked, reported } = prepare(facts);
    const recorded: Parameters<ProcessDeliveryDeps['deliveries']['record']>[0][] = [];
    const record: ProcessDeliveryDeps['deliveries']['record'] = async (attempt) => {
      recorded.push(attempt);
      return await deps.deliveries.record(attempt);
    };
    const verdict = await processDelivery(
      { ...deps, deliveries: { ...deps.deliveries, record }, ...more },
      turn(),
      signal,
    );
    return { verdict, recorded, asked, reported };
  }

  test('a notice goes to the platform in its own group, and its failures count for no endpoint', async () => {
    const { verdict, recorded } = await run({ ...notice, outcome: responded(410) }, { platform });
    expect(verdict).toEqual({ kind: 'recorded', end: 'answered' });
    expect(recorded).toMatchObject([{ group: PLATFORM, verdict: { kind: 'retry' } }]);
    expect(recorded[0]).not.toHaveProperty('disableAfterMs');
    expect(recorded[0]).not.toHaveProperty('notice');
  });

  test.each<{ when: string; delivery: Partial<Delivery>; verdict: ProcessVerdict; asked: string[] }>([
    { when: 'waits for one that has it', delivery: {}, verdict: { kind: 'put_back', dueAt: NOW + 10_000 }, asked: [] },
    {
      when: 'waits the longer, the older it is',
      delivery: { scheduledAt: NOW - DAY_MS },
      verdict: { kind: 'put_back', dueAt: NOW + DAY_MS / 10 },
      asked: [],
    },
    {
      when: 'fails it once its time is up',
      delivery: { scheduledAt: NOW - 5 * DAY_MS - 1 },
      verdict: FINISHED,
      asked: ['give up'],
    },
    {
      when: 'drops its redelivery once its time is up',
      delivery: { status: 'failed', owedAttempts: 1, scheduledAt: NOW - 5 * DAY_MS - 1 },
      verdict: FINISHED,
      asked: ['cancel receiver_removed'],
    },
  ])('a worker without NOTICE_URL $when', async ({ delivery: more, verdict, asked }) => {
    const facts = { ...notice, delivery: { ...notice.delivery, ...more } };
    const result = await run(facts, {});
    expect(result.verdict).toEqual(verdict);
    expect(result.asked).toEqual(asked);
  });

  test.each<{ when: string; facts: Facts; isDrafted: boolean }>([
    { when: 'a success of a healthy endpoint', facts: {}, isDrafted: false },
    {
      when: 'a success of one that was failing',
      facts: { endpoint: { health: { consecutiveFailures: 1, failingSince: NOW - 1 } } },
      isDrafted: true,
    },
    { when: 'a success of one that was told of', facts: { endpoint: { toldSince: NOW - 1 } }, isDrafted: true },
    { when: 'a failure', facts: { outcome: responded(500) }, isDrafted: true },
    {
      when: 'a failed redelivery of a test event',
      facts: {
        outcome: responded(500),
        delivery: { event: 'webhook.test', status: 'failed', owedAttempts: 1 },
      },
      isDrafted: false,
    },
  ])('$when is recorded with a draft: $isDrafted; without NOTICE_URL with none', async ({ facts, isDrafted }) => {
    const kindsOf = async (more: Partial<ProcessDeliveryDeps>): Promise<(NoticeDraft['kind'] | undefined)[]> =>
      (await run(facts, more)).recorded.map((attempt) => attempt.notice?.kind);
    expect(await kindsOf({ platform })).toEqual([isDrafted ? 'receiver' : undefined]);
    expect(await kindsOf({})).toEqual([undefined]);
  });

  test('the notice that an attempt made is told of', async () => {
    const facts: Facts = { outcome: responded(410), reply: { notice: 'receiver.disabled' } };
    const { reported } = await run(facts, { platform });
    expect(reported).toContain('wh_1 receiver.disabled');
  });
});

test.each(['send', 'record'] as const)('an internal error at %s is thrown', async (where) => {
  const { deps, signal } = prepare({});
  const fault = () => Promise.reject(new Error('ours'));
  const faulty = {
    ...deps,
    ...(where === 'send' ? { makeAttempt: fault } : { deliveries: { ...deps.deliveries, record: fault } }),
  };
  await expect(processDelivery(faulty, turn(), signal)).rejects.toThrow('ours');
});
