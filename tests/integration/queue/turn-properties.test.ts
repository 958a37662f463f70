import fc from 'fast-check';
import { RINGS, SLOW } from '../../../packages/queue/src/queue-keys.ts';
import type { Reserved } from '../../../packages/queue/src/worker/reserve.ts';
import { createSlots, type JobEnd, type Slot } from '../../../packages/queue/src/worker/slots.ts';
import { createQueueScripts } from './queue-scripts.ts';
import { findFaults } from './read-queue.ts';
import { startQueue } from './start-queue.ts';
import { sized } from '../../support/sized.ts';

const START = 1_800_000_000_000;
const LIMIT = 5;
const CONCURRENCY = 4;
const JOBS_A_TURN = 4;
/** Turns that a tenant has left, when it has had none for long. */
const BURST = 16;
const TENANTS = ['a', 'b', 'c'];

type Load = {
  readonly tenant: string;
  readonly groups: number;
  /** Jobs of each group. */
  readonly jobs: number;
  /** Of the first two jobs of each group, and of the others. */
  readonly firstMs: number;
  readonly tookMs: number;
  readonly answers: boolean;
  readonly inMs: number;
};

const load: fc.Arbitrary<Load> = fc.record({
  tenant: fc.constantFrom(...TENANTS),
  groups: fc.constantFrom(1, 1, 2, 12),
  jobs: fc.constantFrom(1, 3, 8, 20),
  firstMs: fc.constantFrom(5, 900),
  tookMs: fc.constantFrom(5, 5, 40, 1_500, 5_000, 15_000),
  answers: fc.constantFrom(true, true, true, false),
  inMs: fc.constantFrom(0, 0, 500, 3_000),
});

/** The jobs of each tenant in a reserve. */
function countJobs(jobs: readonly Reserved[], tenantOf: (group: string) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { group } of jobs) counts.set(tenantOf(group), (counts.get(tenantOf(group)) ?? 0) + 1);
  return counts;
}

test('whatever tenants have however many groups and jobs, each gets as many jobs as another while both wait', async () => {
  let now = START;
  await using queue = await startQueue(() => now);
  const scripts = createQueueScripts(queue, () => now);
  const { redis, keys } = queue;
  const tenantOf = (group: string) => group.charAt(0);

  const run = async (loads: readonly Load[], rooms: readonly number[]) => {
    await redis.flushdb();
    let added = 0;
    let unfinished = 0;
    /** By two tenants that wait, how many jobs the first has been given more than the second. */
    const ahead = new Map<string, number>();
    const groups = new Map<string, number>();
    const isReady = async (tenant: string) =>
      (await redis.zrange(keys.ready(1), '0', '-1')).some((group) => tenantOf(group) === tenant);
    for (const [turn, room] of [...rooms, ...new Array<number>(400).fill(5)].entries()) {
      const given = loads[turn];
      if (given) {
        groups.set(given.tenant, (groups.get(given.tenant) ?? 0) + given.groups);
        for (let group = 0; group < given.groups; group++) {
          const name = `${given.tenant}${turn}.${group}`;
          await redis.hset(keys.group(name), 'ok', '1');
          const jobs = Array.from({ length: given.jobs }, () => ({
            group: name,
            tenant: given.tenant,
            id: `job${added++}`,
          }));
          await queue.add(...jobs);
          unfinished += jobs.length;
        }
      }
      if (unfinished === 0 && turn >= loads.length) break;
      expect(turn).toBeLessThan(rooms.length + 400);
      const waiting = [];
      for (const tenant of TENANTS) if (await isReady(tenant)) waiting.push(tenant);
      const jobs = await scripts.reserve({ rooms: [0, room, 0, 0], groupLimit: 1_000 });
      const counts = countJobs(jobs, tenantOf);
      for (const tenant of TENANTS) {
        for (const other of TENANTS) {
          if (tenant === other) continue;
          const pair = tenant + other;
          const more = (ahead.get(pair) ?? 0) + (counts.get(tenant) ?? 0) - (counts.get(other) ?? 0);
          ahead.set(pair, waiting.includes(tenant) && waiting.includes(other) ? Math.max(0, more) : 0);
          // A turn is paid for when it was had, so the first of each group may give three jobs that nobody counted on.
          const ofBoth = (groups.get(tenant) ?? 0) + (groups.get(other) ?? 0);
          expect(ahead.get(pair)).toBeLessThanOrEqual(BURST + 2 * JOBS_A_TURN + (JOBS_A_TURN - 1) * ofBoth);
        }
      }
      for (const { handle } of jobs) await queue.end(handle, { outcome: 'answered', tookMs: 5, limit: 1_000 });
      unfinished -= jobs.length;
      now += 1;
    }
    expect(await findFaults(queue)).toEqual([]);
    expect(unfinished).toBe(0);
  };

  await fc.assert(
    fc.asyncProperty(
      fc.array(load, { minLength: 2, maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 12, maxLength: 12 }),
      run,
    ),
    { numRuns: sized(8, 40), plugins: [fc.interruptAfterTimeLimit(20_000)] },
  );
}, 40_000);

test('however long jobs take, and whoever has them, a quick group that is known waits for a second at most, and all are done', async () => {
  let now = START;
  await using queue = await startQueue(() => now);
  const scripts = createQueueScripts(queue, () => now);
  const { redis, keys } = queue;

  const run = async (loads: readonly Load[]) => {
    await redis.flushdb();
    const startedAt = now;
    const slots = createSlots({ concurrency: CONCURRENCY, now: () => now - startedAt });
    const dueAt = new Map<string, number>();
    const takesMs = new Map<string, readonly [first: number, later: number]>([['quick', [5, 5]]]);
    const begun = new Map<string, number>();
    const isSilent = new Set<string>();
    /** Of the quick jobs, in ms. */
    const waits: number[] = [];
    let added = 0;
    let done = 0;
    let underWay: { job: Reserved; slot: Slot; endsAt: number; tookMs: number }[] = [];

    const add = async (tenant: string, group: string, count: number) => {
      const jobs = Array.from({ length: count }, () => ({ group, tenant, id: `job${added++}` }));
      for (const { id } of jobs) dueAt.set(id, now);
      await queue.add(...jobs);
    };

    const reserve = async () => {
      for (;;) {
        const { rings: rooms, withoutRoom, isCautious } = slots.room();
        const suspects = slots.findSuspects();
        const { jobs } = await scripts.reserveAll({
          rooms,
          groupLimit: LIMIT,
          leaseMs: 60_000,
          suspects,
          withoutRoom,
          isCautious,
        });
        if (jobs.length === 0) return;
        for (const job of jobs) {
          const before = begun.get(job.group) ?? 0;
          begun.set(job.group, before + 1);
          const tookMs = takesMs.get(job.group)?.[before < 2 ? 0 : 1] ?? 0;
          underWay.push({ job, slot: slots.start(job.group, job.ring, job.tenant), endsAt: now + tookMs, tookMs });
          if (job.group === 'quick') waits.push(now - (dueAt.get(job.id) ?? 0));
        }
      }
    };

    const endDue = async () => {
      const ended = underWay.filter(({ endsAt }) => endsAt <= now);
      underWay = underWay.filter(({ endsAt }) => endsAt > now);
      for (const { job, slot, tookMs } of ended) {
        const outcome: JobEnd = isSilent.has(job.group) ? 'unanswered' : 'answered';
        await queue.end(job.handle, { outcome, tookMs, isProbe: job.isProbe, limit: LIMIT });
        slots.end(slot, outcome);
        done++;
      }
    };

    await redis.hset(keys.group('quick'), 'ok', '1');
    const arrivals = loads.map((each, index) => ({ ...each, index, at: now + each.inMs }));
    for (let tick = 0; done < added || tick < 40; tick++) {
      expect(tick).toBeLessThan(20_000);
      for (const each of arrivals.filter(({ at }) => at <= now).splice(0)) {
        arrivals.splice(arrivals.indexOf(each), 1);
        for (let group = 0; group < each.groups; group++) {
          const name = `${each.tenant}${each.index}.${group}`;
          takesMs.set(name, each.answers ? [each.firstMs, each.tookMs] : [15_000, 15_000]);
          if (!each.answers) isSilent.add(name);
          await add(each.tenant, name, each.jobs);
        }
      }
      if (tick < 40) await add('q', 'quick', 1);
      await reserve();
      // The next thing that happens, and a look at least every 100 ms while the quick one has jobs.
      const [, lookAgainAt] = await redis.zrange(keys.later, '0', '0', 'WITHSCORES');
      const next = Math.min(
        ...underWay.map(({ endsAt }) => endsAt),
        ...arrivals.map(({ at }) => at),
        Number(lookAgainAt ?? Infinity),
        now + Math.max(1, slots.roomierInMs()),
        tick < 40 ? now + 100 : Infinity,
      );
      now = Math.max(now + 1, Number.isFinite(next) ? Math.ceil(next) : now + 1);
      await endDue();
    }
    expect(done).toBe(added);
    expect(Math.max(...waits)).toBeLessThanOrEqual(1_000);
    expect(slots.inWork()).toBe(0);
    expect(RINGS.map((ring) => slots.room().rings[ring])).toEqual([50, CONCURRENCY, CONCURRENCY / 2, 10 * CONCURRENCY]);
    expect(await redis.exists(keys.ready(SLOW))).toBe(0);
    expect(await findFaults(queue)).toEqual([]);
  };

  await fc.assert(fc.asyncProperty(fc.array(load, { minLength: 1, maxLength: 6 }), run), {
    numRuns: sized(6, 30),
    plugins: [fc.interruptAfterTimeLimit(20_000)],
  });
}, 60_000);
