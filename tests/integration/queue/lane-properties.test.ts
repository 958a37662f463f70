import fc from 'fast-check';
import { laneOf } from '@herald/queue';
import type { Reserved } from '../../../packages/queue/src/worker/reserve.ts';
import { createQueueScripts } from './queue-scripts.ts';
import { findFaults, idOf, readQueue } from './read-queue.ts';
import { startQueue, type QueueJob } from './start-queue.ts';
import { sized } from '../../support/sized.ts';

const LIMIT = 6;
const START = 1_800_000_000_000;
const LEASE_MS = 20_000;
const BURST_MS = 1_000;
/** Two lanes of one group, one of another; 'a' has jobs without a lane too. */
const RATES = new Map([
  [laneOf('a', 2, 'slow'), 2],
  [laneOf('a', 50, 'fast'), 50],
  [laneOf('b', 9, 'odd'), 9],
]);
const PLACES = ['a', ...RATES.keys()];

type Step =
  | {
      readonly kind: 'add';
      readonly place: string;
      readonly jobClass: NonNullable<QueueJob['jobClass']>;
      readonly inMs: number;
      readonly count: number;
    }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'reserve'; readonly worker: number; readonly rooms: readonly number[] }
  | {
      readonly kind: 'end';
      readonly worker: number;
      readonly outcome: 'answered' | 'unanswered' | 'unsent';
      readonly tookMs: number;
      readonly againInMs: number | undefined;
      readonly holdMs: number | undefined;
    }
  | { readonly kind: 'putBack'; readonly worker: number }
  | { readonly kind: 'remove'; readonly place: string }
  | { readonly kind: 'kill'; readonly worker: number }
  | { readonly kind: 'recover' };

const worker = fc.nat(2);
const place = fc.constantFrom(...PLACES);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('add'),
      place,
      jobClass: fc.constantFrom('urgent', 'usual', 'usual', 'background'),
      inMs: fc.constantFrom(0, 0, 1, 700, 5_000),
      count: fc.integer({ min: 1, max: 30 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('advance'), ms: fc.constantFrom(1, 19, 100, 500, 2_000, 21_000) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('reserve'),
      worker,
      rooms: fc.constantFrom([9, 9, 9, 9], [0, 2, 0, 2], [0, 9, 1, 9]),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('end'),
      worker,
      outcome: fc.constantFrom('answered', 'answered', 'answered', 'unanswered', 'unsent'),
      tookMs: fc.constantFrom(5, 1_500, 5_000),
      againInMs: fc.option(fc.constantFrom(0, 700, 5_000), { nil: undefined }),
      holdMs: fc.option(fc.constantFrom(700, 5_000), { nil: undefined, freq: 8 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('putBack'), worker }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove'), place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill'), worker }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('recover') }) },
);

test('whatever happens, a lane keeps its rate, a group its limit, every job is in one place, and all are done in time', async () => {
  let now = START;
  await using queue = await startQueue(() => now);
  const scripts = createQueueScripts(queue, () => now);

  const run = async (steps: readonly Step[]): Promise<void> => {
    await queue.redis.flushdb();
    const unfinished = new Map<string, { readonly place: string; readonly jobClass: string }>();
    const held: Reserved[][] = [[], [], []];
    /** When jobs of a lane were reserved that had to wait for a token. */
    const taken = new Map<string, number[]>(PLACES.map((each) => [each, []]));
    let added = 0;

    const reserve = async (rooms: readonly number[]) => {
      const jobs = await scripts.reserve({ rooms, groupLimit: LIMIT, leaseMs: LEASE_MS });
      for (const { id, handle } of jobs) {
        expect(unfinished.has(id)).toBe(true);
        const [score = '', from = ''] = handle.split('|');
        expect(from).toBe(unfinished.get(id)?.place);
        if (Number(score) >= 1e13) taken.get(from)?.push(now);
      }
      return jobs;
    };

    const doStep = async (given: Step): Promise<void> => {
      switch (given.kind) {
        case 'add': {
          const { place: group, jobClass, inMs, count } = given;
          const jobs = Array.from({ length: count }, () => ({
            group,
            id: `job|${added++}`,
            jobClass,
            dueAt: now + inMs,
          }));
          for (const { id } of jobs) unfinished.set(id, { place: group, jobClass });
          await queue.add(...jobs);
          return;
        }
        case 'advance':
          now += given.ms;
          return;
        case 'reserve':
          held[given.worker]?.push(...(await reserve(given.rooms)));
          return;
        case 'end': {
          const job = held[given.worker]?.shift();
          if (!job) return;
          const { outcome, tookMs, againInMs, holdMs } = given;
          const { held: wasHeld } = await queue.end(job.handle, {
            outcome,
            tookMs,
            isProbe: job.isProbe,
            limit: LIMIT,
            ...(againInMs === undefined ? {} : { againAt: now + againInMs }),
            ...(holdMs === undefined ? {} : { heldUntil: now + holdMs }),
          });
          if (wasHeld && againInMs === undefined) unfinished.delete(job.id);
          return;
        }
        case 'putBack': {
          const jobs = held[given.worker]?.splice(0) ?? [];
          if (jobs.length > 0) await scripts.putBack(jobs, 0, LIMIT);
          return;
        }
        case 'remove': {
          const seen = (await readQueue(queue)).get(given.place);
          const [id] = seen?.waiting.keys() ?? [];
          if (id === undefined) return;
          const [removed] = await queue.remove(given.place, id);
          if (removed !== id) throw new Error(`${id} was not removed`);
          unfinished.delete(id);
          return;
        }
        case 'kill':
          held[given.worker] = [];
          return;
        case 'recover':
          await scripts.recover(LIMIT);
      }
    };

    const check = async (): Promise<void> => {
      expect(await findFaults(queue)).toEqual([]);
      const groups = await readQueue(queue);
      const present = [...groups.values()].flatMap(({ waiting, leases }) => [...waiting.keys(), ...leases.map(idOf)]);
      expect(new Set(present)).toEqual(new Set(unfinished.keys()));
      expect([...groups.values()].filter(({ leases }) => leases.length > LIMIT)).toEqual([]);
      for (const [lane, perSecond] of RATES) {
        const times = taken.get(lane) ?? [];
        for (const [index, first] of times.entries()) {
          for (const [more, last] of times.slice(index).entries()) {
            const most = (perSecond * (BURST_MS + last - first)) / 1_000;
            if (more + 1 > most + 1e-3) throw new Error(`${lane} gave ${more + 1} jobs in ${last - first} ms`);
          }
        }
      }
    };

    for (const given of steps) {
      await doStep(given);
      await check();
    }

    // A worker that works gets all of it, as soon as rates, pauses and breakers let it.
    const from = now;
    for (let turn = 0; unfinished.size > 0; turn++) {
      expect(turn).toBeLessThan(3_000);
      await scripts.recover(LIMIT);
      const jobs = await reserve([9, 9, 9, 9]);
      for (const { handle, id, isProbe } of jobs) {
        const { held: wasHeld } = await queue.end(handle, { outcome: 'answered', isProbe, limit: LIMIT });
        expect(wasHeld).toBe(true);
        unfinished.delete(id);
      }
      const [, lookAgainAt] = await queue.redis.zrange(queue.keys.later, '0', '0', 'WITHSCORES');
      const [, leaseEndsAt] = await queue.redis.zrange(queue.keys.leases, '0', '0', 'WITHSCORES');
      if (jobs.length === 0)
        now = Math.max(now, Math.min(Number(lookAgainAt ?? Infinity), Number(leaseEndsAt ?? Infinity)));
    }
    const most = Math.max(...[...RATES].map(([lane, perSecond]) => (taken.get(lane)?.length ?? 0) / perSecond));
    expect(now - from).toBeLessThanOrEqual(most * 1_000 + LEASE_MS + 300_000);
    held.fill([]);
    await check();
  };

  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 50, size: 'max' }), run), {
    numRuns: sized(15, 30),
    plugins: [fc.interruptAfterTimeLimit(15_000)],
  });
}, 40_000);
