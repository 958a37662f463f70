import { createRetryPolicy, type AttemptOutcome, type Delivery } from '@herald/core';
import type { EndpointRecord, LoadedDelivery, RecordReply } from '@herald/infra';
import type { Pass, SendEnd } from '../isolation/destination-gate.ts';
import {
  processFromBacklog,
  processFromLine,
  type ProcessDeliveryDeps,
  type ProcessVerdict,
} from './process-delivery.ts';

const NOW = 1_800_000_000_000;
const DAY_MS = 86_400_000;
const JOB = { kind: 'job', queue: 'deliveries', token: 'lock' } as const;
/** Whose job ends with its delivery's step into the backlog. */
const ENDS_AT_ONCE = { kind: 'job', queue: 'deliveries', token: 'held' } as const;
const SCHEDULE_MS = [5_000, 300_000];
const WITHOUT_JITTER = 0.5;

const delivery: Delivery = {
  ...{ id: 'dlv_1', workspaceId: 'ws_1', endpointId: 'wh_1', transitionId: 'trn_1', event: 'task.done' },
  ...{ status: 'pending', createdAt: NOW, tries: 0, nextAttemptAt: NOW, scheduledAt: NOW, owedAttempts: 0 },
};
const endpoint: EndpointRecord = {
  ...{ id: 'wh_1', workspaceId: 'ws_1', url: 'https://hooks.example.com/in', events: [], description: '' },
  ...{ enabled: true, createdAt: NOW, destination: 'dst', sealedSecret: 'sealed', health: { consecutiveFailures: 0 } },
};

type Facts = {
  delivery?: Partial<Delivery>;
  endpoint?: Partial<EndpointRecord> | 'removed';
  destination?: Partial<LoadedDelivery['destination']>;
  inBacklogFrom?: number;
  load?: 'missing' | 'body_lost';
  /** Default: answers 200. */
  outcome?: AttemptOutcome;
  /** What the record script says. Default: what follows from the verdict. */
  reply?: Partial<RecordReply>;
  noRoom?: boolean;
  aborted?: boolean;
  stopping?: boolean;
};

const responded = (status: number, retryAfter?: string): AttemptOutcome => ({
  ...{ kind: 'responded', status, answer: '' },
  ...(retryAfter !== undefined && { retryAfter }),
});
const timedOut: AttemptOutcome = { kind: 'timed_out', phase: 'response' };

/** The processor among fakes that write down what it asks of them. */
function prepare(facts: Facts) {
  const asked: string[] = [];
  const ends: SendEnd[] = [];
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
          destination: { ...{ id: 'dst', isOpen: false, holdUntil: 0 }, ...facts.destination },
          ...(facts.inBacklogFrom !== undefined && { inBacklogFrom: facts.inBacklogFrom }),
        });
      },
      async record({ verdict, answered, gone, isProbe, wasOwed, holdUntil }) {
        const flags = Object.entries({ answered, gone, isProbe, wasOwed, held: holdUntil !== undefined });
        await note(['record', verdict.kind, ...flags.flatMap(([name, is]) => (is ? [name] : []))].join(' '));
        const status = verdict.kind === 'retry' ? 'pending' : verdict.kind;
        return { kind: 'recorded', status, owedAttempts: 0, hasBacklog: false, ...facts.reply };
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
    gate: {
      enter: (destination): Pass | undefined => (facts.noRoom ? undefined : { destination, startedAt: 0 }),
      leave: (_pass, end) => {
        ends.push(end);
      },
    },
    putInBacklog: async (_id, destination, urgent, place) => {
      await note(`backlog ${destination}${urgent ? ' urgent' : ''}`);
      return place === ENDS_AT_ONCE;
    },
    pokeBacklog: (destination) => void note(`poke ${destination}`),
    makeAttempt: async () => {
      await note('send');
      return { outcome: facts.outcome ?? responded(200), startedAt: NOW, durationMs: 5 };
    },
    retryPolicy: createRetryPolicy(SCHEDULE_MS),
    disableAfterMs: 5 * DAY_MS,
    report: {
      attempted: ({ loaded, reply }) => reported.push(`${loaded.delivery.id} ${reply.status ?? reply.kind}`),
      ended: ({ id }, status, reason) => reported.push(`${id} ${status} ${reason}`),
      bodyLost: (id) => reported.push(`${id} body_lost`),
    },
    isStopping: () => facts.stopping ?? false,
    now: () => NOW,
    random: () => WITHOUT_JITTER,
  };
  return { deps, asked, ends, reported, signal: facts.aborted ? AbortSignal.abort() : new AbortController().signal };
}

const FINISHED: ProcessVerdict = { kind: 'finished' };
const waitUntil = (until: number): ProcessVerdict => ({ kind: 'wait', until, event: 'task.done' });

/** What must be told of: whatever changed a record. */
function countFacts(asked: readonly string[]): number {
  const changes = asked.filter((what) => /^(record|cancel|give up)/.test(what)).length;
  return asked.includes('cancel body_lost') ? changes + 1 : changes;
}

type Case = { when: string; facts: Facts; verdict: ProcessVerdict; asked: string[]; end?: SendEnd };

/** Alike, whether its turn came in the line or in a backlog. */
const EVERYWHERE: Case[] = [
  { when: 'its record is gone', facts: { load: 'missing' }, verdict: FINISHED, asked: [] },
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
    when: 'a redelivery is owed, but its endpoint is disabled',
    facts: { delivery: { status: 'failed', owedAttempts: 1 }, endpoint: { enabled: false } },
    verdict: FINISHED,
    asked: ['cancel receiver_disabled'],
  },
  {
    when: 'it isn’t due',
    facts: { delivery: { nextAttemptAt: NOW + 51 } },
    verdict: waitUntil(NOW + 51),
    asked: [],
  },
  {
    when: 'it is due but for the difference of two clocks',
    facts: { delivery: { nextAttemptAt: NOW + 50 } },
    verdict: FINISHED,
    asked: ['send', 'record delivered answered'],
    end: 'answered',
  },
  {
    when: 'its time is up',
    facts: { delivery: { scheduledAt: NOW - 5 * DAY_MS - 1 } },
    verdict: FINISHED,
    asked: ['give up'],
  },
  {
    when: 'its time is up, and a redelivery is owed',
    facts: { delivery: { scheduledAt: NOW - 5 * DAY_MS - 1, owedAttempts: 1 } },
    verdict: FINISHED,
    asked: ['send', 'record delivered answered wasOwed'],
    end: 'answered',
  },
  { when: 'the worker must end', facts: { aborted: true }, verdict: { kind: 'put_back' }, asked: [] },
  {
    when: 'it is answered with 200',
    facts: {},
    verdict: FINISHED,
    asked: ['send', 'record delivered answered'],
    end: 'answered',
  },
  {
    when: 'it is answered with 500',
    facts: { outcome: responded(500) },
    verdict: waitUntil(NOW + 5_000),
    asked: ['send', 'record retry answered'],
    end: 'answered',
  },
  {
    when: 'the second try is answered with 500',
    facts: { outcome: responded(500), delivery: { tries: 1 } },
    verdict: waitUntil(NOW + 300_000),
    asked: ['send', 'record retry answered'],
    end: 'answered',
  },
  {
    when: 'the last try is answered with 500',
    facts: { outcome: responded(500), delivery: { tries: 2 } },
    verdict: FINISHED,
    asked: ['send', 'record failed answered'],
    end: 'answered',
  },
  {
    when: 'it is answered with 410 and its endpoint is disabled by that',
    facts: { outcome: responded(410), reply: { status: 'canceled', disabled: 'gone' } },
    verdict: FINISHED,
    asked: ['send', 'record retry answered gone'],
    end: 'answered',
  },
  {
    when: 'it is answered with 503 and Retry-After',
    facts: { outcome: responded(503, '60') },
    verdict: waitUntil(NOW + 60_000),
    asked: ['send', 'record retry answered held'],
    end: 'answered',
  },
  {
    when: 'it times out',
    facts: { outcome: timedOut },
    verdict: waitUntil(NOW + 5_000),
    asked: ['send', 'record retry'],
    end: 'unanswered',
  },
  {
    when: 'the connection is refused',
    facts: { outcome: { kind: 'unreachable', reason: 'connection_refused' } },
    verdict: waitUntil(NOW + 5_000),
    asked: ['send', 'record retry'],
    end: 'unanswered',
  },
  {
    when: 'the answer is malformed',
    facts: { outcome: { kind: 'unreachable', reason: 'malformed_answer' } },
    verdict: waitUntil(NOW + 5_000),
    asked: ['send', 'record retry answered'],
    end: 'answered',
  },
  {
    when: 'its address is blocked',
    facts: { outcome: { kind: 'blocked' } },
    verdict: waitUntil(NOW + 5_000),
    asked: ['send', 'record retry'],
    end: 'unsent',
  },
  {
    when: 'it is cut off by a stop',
    facts: { outcome: { kind: 'aborted' } },
    verdict: { kind: 'put_back' },
    asked: ['send'],
    end: 'unsent',
  },
  {
    when: 'it times out while the worker stops',
    facts: { outcome: timedOut, stopping: true },
    verdict: { kind: 'put_back' },
    asked: ['send'],
    end: 'unsent',
  },
  {
    when: 'it was canceled while it was sent',
    facts: { outcome: responded(500), reply: { kind: 'superseded', status: 'canceled' } },
    verdict: FINISHED,
    asked: ['send', 'record retry answered'],
    end: 'answered',
  },
  {
    when: 'another attempt moved it on meanwhile',
    facts: { outcome: responded(500), reply: { kind: 'superseded', status: 'pending' } },
    verdict: waitUntil(NOW),
    asked: ['send', 'record retry answered'],
    end: 'answered',
  },
  {
    when: 'a redelivery was asked for while it was sent',
    facts: { reply: { owedAttempts: 1 } },
    verdict: waitUntil(0),
    asked: ['send', 'record delivered answered'],
    end: 'answered',
  },
  {
    when: 'it is delivered and a redelivery is owed',
    facts: { delivery: { status: 'delivered', owedAttempts: 1 } },
    verdict: FINISHED,
    asked: ['send', 'record delivered answered wasOwed'],
    end: 'answered',
  },
  {
    when: 'it waits for a later try and a redelivery is owed',
    facts: { delivery: { nextAttemptAt: NOW + DAY_MS, owedAttempts: 1, tries: 1 }, outcome: responded(500) },
    verdict: waitUntil(NOW + 300_000),
    asked: ['send', 'record retry answered wasOwed'],
    end: 'answered',
  },
];

describe('from the line', () => {
  const cases: Case[] = [
    ...EVERYWHERE,
    {
      when: 'its destination has no room',
      facts: { noRoom: true },
      verdict: FINISHED,
      asked: ['backlog dst'],
    },
    {
      when: 'its destination’s breaker is open',
      facts: { destination: { isOpen: true } },
      verdict: FINISHED,
      asked: ['backlog dst'],
    },
    {
      when: 'its destination asked to be left alone',
      facts: { destination: { holdUntil: NOW + 1 } },
      verdict: FINISHED,
      asked: ['backlog dst'],
    },
    {
      when: 'its destination asked to be left alone until now',
      facts: { destination: { holdUntil: NOW } },
      verdict: FINISHED,
      asked: ['send', 'record delivered answered'],
      end: 'answered',
    },
    {
      when: 'a redelivery is owed and the breaker is open',
      facts: { delivery: { status: 'failed', owedAttempts: 1 }, destination: { isOpen: true } },
      verdict: FINISHED,
      asked: ['backlog dst urgent', 'poke dst'],
    },
    {
      when: 'a redelivery is owed and there is no room',
      facts: { delivery: { owedAttempts: 1 }, noRoom: true },
      verdict: FINISHED,
      asked: ['backlog dst urgent', 'poke dst'],
    },
    {
      when: 'a redelivery is owed and it waits in the backlog',
      facts: { delivery: { owedAttempts: 1 }, inBacklogFrom: NOW - 1e12 },
      verdict: FINISHED,
      asked: ['backlog dst urgent', 'poke dst'],
    },
    { when: 'it waits in the backlog too', facts: { inBacklogFrom: NOW - 1e12 }, verdict: FINISHED, asked: [] },
    {
      when: 'it was taken from the backlog and is in work',
      facts: { inBacklogFrom: NOW + 20_000 },
      verdict: waitUntil(NOW + 1_000),
      asked: [],
    },
    {
      when: 'others wait for its destination',
      facts: { reply: { hasBacklog: true } },
      verdict: FINISHED,
      asked: ['send', 'record delivered answered', 'poke dst'],
      end: 'answered',
    },
  ];
  test.each(cases)('$when: $verdict.kind', async ({ facts, verdict, asked, end }) => {
    const { deps, signal, ...seen } = prepare(facts);
    expect(await processFromLine(deps, delivery.id, signal, { place: JOB })).toEqual(verdict);
    expect(seen.asked).toEqual(asked);
    expect(seen.reported).toHaveLength(countFacts(asked));
    expect(seen.ends).toEqual(end === undefined ? [] : [end]);
  });

  test('its job leaves with its step into the backlog', async () => {
    const { deps, asked, signal } = prepare({ noRoom: true });
    const verdict = await processFromLine(deps, delivery.id, signal, { place: ENDS_AT_ONCE });
    expect(verdict).toEqual({ kind: 'finished', hasLeft: true });
    expect(asked).toEqual(['backlog dst']);
  });

  test('what was read when its job was fetched is not read again, and its job leaves with the record', async () => {
    const { deps, asked, signal } = prepare({ reply: { hasLeft: true } });
    const loaded = await deps.deliveries.load(delivery.id);
    const load = () => Promise.reject(new Error('it was read'));
    const places: unknown[] = [];
    const deliveries: ProcessDeliveryDeps['deliveries'] = {
      ...{ ...deps.deliveries, load },
      record: async (attempt) => {
        places.push(attempt.place);
        return await deps.deliveries.record(attempt);
      },
    };
    const verdict = await processFromLine({ ...deps, deliveries }, delivery.id, signal, { place: JOB, loaded });
    expect(verdict).toEqual({ kind: 'finished', hasLeft: true });
    expect(asked).toEqual(['send', 'record delivered answered']);
    expect(places).toEqual([JOB]);
  });

  test.each(['send', 'record'] as const)('a fault of our own at %s gives the room back', async (where) => {
    const { deps, ends, signal } = prepare({});
    const fault = () => Promise.reject(new Error('ours'));
    const faulty = {
      ...deps,
      ...(where === 'send' ? { makeAttempt: fault } : { deliveries: { ...deps.deliveries, record: fault } }),
    };
    await expect(processFromLine(faulty, delivery.id, signal, { place: JOB })).rejects.toThrow('ours');
    expect(ends).toEqual(['unsent']);
  });
});

describe('from a backlog', () => {
  const cases: (Case & { isProbe?: boolean })[] = [
    ...EVERYWHERE,
    {
      when: 'it is a probe',
      facts: { destination: { isOpen: true }, outcome: timedOut },
      isProbe: true,
      verdict: waitUntil(NOW + 5_000),
      asked: ['send', 'record retry isProbe'],
      end: 'unanswered',
    },
    {
      when: 'its endpoint has moved to another destination',
      facts: { destination: { id: 'other', isOpen: true } },
      isProbe: true,
      verdict: waitUntil(0),
      asked: [],
    },
  ];
  test.each(cases)('$when: $verdict.kind', async ({ facts, verdict, asked, end = 'unsent', isProbe = false }) => {
    const { deps, signal, ...seen } = prepare(facts);
    const attempted = await processFromBacklog(deps, { id: delivery.id, destination: 'dst', isProbe }, signal);
    expect(attempted).toMatchObject({ verdict, end });
    expect(seen.asked).toEqual(asked);
    expect(seen.reported).toHaveLength(countFacts(asked));
    expect(seen.ends).toEqual([]); // the runner has the pass
  });
});
