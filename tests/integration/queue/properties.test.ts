import fc from 'fast-check';
import { CLASS_FACTOR, RINGS } from '../../../packages/queue/src/queue-keys.ts';
import type { PerRing } from '../../../packages/queue/src/worker/slots.ts';
import type { Reserved } from '../../../packages/queue/src/worker/reserve.ts';
import { createQueueScripts } from './queue-scripts.ts';
import { findFaults, idOf, readQueue } from './read-queue.ts';
import { startQueue, type QueueJob } from './start-queue.ts';
import { sized } from '../../support/sized.ts';

const GROUPS = ['!express', 'a', 'b'] as const;
/** The rate of the group 'b', per second, and what its bucket holds, in ms. */
const RATE = 9;
const BURST_MS = 1_000;
const LIMIT = 3;
const START = 1_800_000_000_000;
const LEASE_MS = 20_000;

type Step =
  | {
      readonly kind: 'add';
      readonly group: string;
      readonly jobClass: QueueJob['jobClass'];
      readonly inMs: number;
      readonly count: number;
    }
  | { readonly kind: 'move'; readonly pick: number; readonly inMs: number }
  | { readonly kind: 'remove'; readonly group: string; readonly pick: number }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'reserve'; readonly rooms: PerRing; readonly isKeptWaiting: boolean }
  | {
      readonly kind: 'end';
      readonly pick: number;
      readonly outcome: 'answered' | 'unanswered' | 'unsent';
      readonly tookMs: number;
      readonly againInMs: number | undefined;
      readonly holdMs: number | undefined;
    }
  | { readonly kind: 'putBack'; readonly pick: number; readonly inMs: number }
  | { readonly kind: 'finish'; readonly pick: number }
  | { readonly kind: 'lose' }
  | { readonly kind: 'recover' }
  | { readonly kind: 'pause'; readonly isPaused: boolean };

const delay = fc.constantFrom(0, 1, 700, 5_000, 40_000);
const room = fc.integer({ min: 0, max: 6 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('add'),
      group: fc.constantFrom(...GROUPS),
      jobClass: fc.constantFrom('urgent', 'usual', 'background'),
      inMs: delay,
      count: fc.integer({ min: 1, max: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('move'), pick: fc.nat(50), inMs: delay }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('remove'), group: fc.constantFrom(...GROUPS), pick: fc.nat(50) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('advance'), ms: fc.constantFrom(1, 300, 5_000, 21_000, 70_000) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('reserve'),
      rooms: fc.tuple(room, room, room, room),
      isKeptWaiting: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('end'),
      pick: fc.nat(50),
      outcome: fc.constantFrom('answered', 'answered', 'unanswered', 'unanswered', 'unsent'),
      tookMs: fc.constantFrom(5, 5, 1_500, 5_000),
      againInMs: fc.option(delay, { nil: undefined }),
      holdMs: fc.option(delay, { nil: undefined, freq: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('putBack'), pick: fc.nat(50), inMs: delay }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('finish'), pick: fc.nat(50) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('recover') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pause'), isPaused: fc.boolean() }) },
);

test('whatever happens, every job is in one place, every group where it belongs, no limit and no rate is passed, and all can be done in time', async () => {
  let now = START;
  await using queue = await startQueue(() => now);
  const scripts = createQueueScripts(queue, () => now);
  const { redis, keys } = queue;

  /** What a worker that works has. One that died or stood still may have more. */
  const run = async (steps: readonly Step[]): Promise<void> => {
    await redis.flushdb();
    await queue.setRate('b', RATE);
    /** When jobs of 'b' were reserved that had to wait for a token. */
    const taken: number[] = [];
    const unfinished = new Set<string>();
    /** Also those whose leases were lost: a process that stood still ends them all the same. */
    let held: Reserved[] = [];
    let added = 0;

    const take = (pick: number): Reserved | undefined => held.splice(pick % Math.max(1, held.length), 1)[0];

    const reserve = async (rooms: PerRing, isKeptWaiting: boolean) => {
      const reply = await scripts.reserveAll({
        rooms,
        groupLimit: LIMIT,
        leaseMs: LEASE_MS,
        suspects: isKeptWaiting ? ['a'] : [],
      });
      const served = reply.kind === 'paused' ? [0] : RINGS;
      expect(reply.jobs.filter(({ ring }) => !served.some((each) => each === ring))).toEqual([]);
      for (const ring of RINGS) {
        expect(reply.jobs.filter((job) => job.ring === ring).length).toBeLessThanOrEqual(rooms[ring]);
      }
      held.push(...reply.jobs);
      for (const { group, handle } of reply.jobs)
        if (group === 'b' && Number.parseFloat(handle) >= CLASS_FACTOR) taken.push(now);
      return reply.jobs;
    };

    const doStep = async (given: Step): Promise<void> => {
      switch (given.kind) {
        case 'add': {
          const jobs = Array.from({ length: given.count }, () => ({
            group: given.group,
            id: `job|${added++}`,
            jobClass: given.jobClass ?? 'usual',
            dueAt: now + given.inMs,
          }));
          for (const { id } of jobs) unfinished.add(id);
          await queue.add(...jobs);
          return;
        }
        case 'move': {
          const groups = [...(await readQueue(queue))];
          const waiting = groups.flatMap(([group, seen]) => [...seen.waiting.keys()].map((id) => ({ group, id })));
          const job = waiting[given.pick % Math.max(1, waiting.length)];
          if (job) await queue.add({ ...job, jobClass: 'urgent', dueAt: now + given.inMs });
          return;
        }
        case 'remove': {
          // Also some that are in work, or of other groups: they stay.
          const ids = [...unfinished].filter((_, index) => (index + given.pick) % 3 === 0);
          for (const id of await queue.remove(given.group, ...ids)) unfinished.delete(id);
          return;
        }
        case 'advance':
          now += given.ms;
          return;
        case 'reserve':
          await reserve(given.rooms, given.isKeptWaiting);
          return;
        case 'end': {
          const job = take(given.pick);
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
          // What was not held any more waits again, or is with somebody else, who finds it finished.
          if (wasHeld && againInMs === undefined) unfinished.delete(job.id);
          return;
        }
        case 'putBack': {
          const job = take(given.pick);
          if (job) await scripts.putBack([job], given.inMs === 0 ? 0 : now + given.inMs, LIMIT);
          return;
        }
        case 'finish': {
          const job = take(given.pick);
          if (job && (await scripts.finish(job, LIMIT)) === 'finished') unfinished.delete(job.id);
          return;
        }
        case 'lose':
          held = [];
          return;
        case 'recover':
          await scripts.recover(LIMIT);
          return;
        case 'pause':
          await scripts.pause(given.isPaused);
      }
    };

    const check = async (): Promise<void> => {
      expect(await findFaults(queue)).toEqual([]);
      const groups = await readQueue(queue);
      const present = [...groups.values()].flatMap(({ waiting, leases }) => [...waiting.keys(), ...leases.map(idOf)]);
      expect(new Set(present)).toEqual(unfinished);
      const limited = [...groups].filter(([name]) => !name.startsWith('!'));
      expect(limited.filter(([, { leases }]) => leases.length > LIMIT)).toEqual([]);
      for (const [index, first] of taken.entries()) {
        for (const [more, last] of taken.slice(index).entries()) {
          const most = (RATE * (BURST_MS + last - first)) / 1_000;
          if (more + 1 > most + 1e-3) throw new Error(`'b' gave ${more + 1} jobs in ${last - first} ms`);
        }
      }
    };

    for (const given of steps) {
      await doStep(given);
      await check();
    }

    await scripts.pause(false);
    const from = now;
    for (let turn = 0; unfinished.size > 0; turn++) {
      expect(turn).toBeLessThan(500);
      await scripts.recover(LIMIT);
      const jobs = await reserve([6, 6, 6, 6], false);
      held = [];
      for (const { handle, id, isProbe } of jobs) {
        const { held: wasHeld } = await queue.end(handle, { outcome: 'answered', isProbe, limit: LIMIT });
        expect(wasHeld).toBe(true);
        unfinished.delete(id);
      }
      const [, lookAgainAt] = await redis.zrange(keys.later, '0', '0', 'WITHSCORES');
      const [, leaseEndsAt] = await redis.zrange(keys.leases, '0', '0', 'WITHSCORES');
      if (jobs.length === 0)
        now = Math.max(now, Math.min(Number(lookAgainAt ?? Infinity), Number(leaseEndsAt ?? Infinity)));
    }
    // As soon as rate, pauses and breakers let them.
    expect(now - from).toBeLessThanOrEqual((taken.length / RATE) * 1_000 + LEASE_MS + 300_000);
    await check();
  };

  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }), run), {
    numRuns: sized(12, 40),
    plugins: [fc.interruptAfterTimeLimit(20_000)],
  });
}, 40_000);
