import { messageOf } from '@herald/test-kit';
import { setTimeout as pause } from 'node:timers/promises';
import { createFakeClock, type FakeClock } from '../tests/support/fake-clock.ts';
import type { HeraldProcess } from '../tests/support/start-herald-process.ts';
import type { Herald } from '../tests/support/start-herald.ts';
import { type Link, startLink } from './link.ts';
import {
  API_SLOTS,
  type ClockFault,
  type LinkFault,
  type ProcessFault,
  type Slot,
  SLOTS,
  WORKER_SLOTS,
} from './plan.ts';

/** The processes of a run, and their supervisor. With a single Redis server, each process has its own link to it. */
export type Fleet = AsyncDisposable & {
  /** The existing API processes; one may be paused. */
  apis(): readonly HeraldProcess[];
  /** Since when some worker has been able to work, by `performance.now`; undefined: none is able. */
  workerAbleSince(): number | undefined;
  beginProcessFault(slot: Slot, fault: ProcessFault): Promise<void>;
  endProcessFault(slot: Slot, fault: ProcessFault): Promise<void>;
  beginLinkFault(slot: Slot, fault: LinkFault): void;
  endLinkFault(slot: Slot, fault: LinkFault): void;
  beginClockFault(slot: Slot, fault: ClockFault): void;
  endClockFault(slot: Slot): void;
  /** Workers are unable to work during a fault of Redis, unless it is one of a replica. */
  setRedisFault(isAtFault: boolean, isOfReplica?: boolean): void;
  /** Whether a worker that starts from now on has no HISTORY_URL. */
  setHistoryUnset(isUnset: boolean): void;
  /** Starts the workers again that have none. */
  giveHistoryBack(): Promise<void>;
  readonly counts: {
    killed: number;
    stopped: number;
    paused: number;
    cut: number;
    /** Silently dead connections, by process. */
    forgotten: number;
    misset: number;
    refusedToStart: number;
    /** Starts of workers without HISTORY_URL. */
    withoutHistory: number;
  };
  /** Forbidden behaviour of the processes. */
  readonly violations: readonly string[];
};

type Place = {
  readonly slot: Slot;
  readonly link: Link | undefined;
  readonly clock: FakeClock;
  isWithoutHistory: boolean;
  current: HeraldProcess | undefined;
  readonly process: WellBeing;
  readonly way: WellBeing;
};

const HOUR_MS = 3_600_000;
/** The error of a clock: its lead in ms, and its speed. */
const CLOCK_FAULTS: Record<ClockFault, readonly [offsetMs: number, rate?: number]> = {
  'hour-ahead': [HOUR_MS],
  'hour-behind': [-HOUR_MS],
  'second-ahead': [1_300],
  'too-fast': [0, 1.02],
};

const START_AGAIN_MS = 500;
/** A process that comes back has all its connections again after this time, in ms. */
const CONNECTED_MS = 3_000;
/** A silently dead connection is noticed and replaced within 8 s. */
const NOTICED_MS = 8_000;

export async function startFleet(herald: Herald): Promise<Fleet> {
  const cleanUp = new AsyncDisposableStack();
  const closing = new AbortController();
  const counts = {
    killed: 0,
    stopped: 0,
    paused: 0,
    cut: 0,
    forgotten: 0,
    misset: 0,
    refusedToStart: 0,
    withoutHistory: 0,
  };
  const violations: string[] = [];
  const ended = new Set<HeraldProcess>();
  const places = new Map<Slot, Place>();
  let isHistoryUnset = false;
  const redis = createWellBeing();
  redis.recover(0);
  const { server } = herald.topology;

  const watch = async (started: HeraldProcess) => {
    const { code, signal } = await started.process.exited;
    if (ended.has(started) || closing.signal.aborted) return;
    violations.push(
      `${started.name} ended by itself with ${signal ?? `exit code ${code ?? 'unknown'}`}\n${started.process.tail()}`,
    );
  };
  /** Acts like a supervisor: restarts a process that refuses to start, as all do while Redis is away. */
  const start = async (place: Place) => {
    const isApi = place.slot.startsWith('api');
    while (!closing.signal.aborted) {
      place.isWithoutHistory = isHistoryUnset && !isApi;
      const env = {
        ...place.clock.env,
        ...(place.link && { REDIS_URL: `redis://127.0.0.1:${place.link.port}` }),
        ...(place.isWithoutHistory && { HISTORY_URL: undefined }),
      };
      try {
        const started = await (isApi ? herald.startApi(env) : herald.startWorker(env));
        if (place.isWithoutHistory) counts.withoutHistory++;
        place.current = started;
        place.process.recover(CONNECTED_MS);
        void watch(started);
        return;
      } catch (error) {
        // A process that can't start prints the reason and exits with 1. A crash prints a stack.
        if (/\n\s+at /.test(messageOf(error)))
          violations.push(`${place.slot} crashed at its start: ${messageOf(error)}`);
        counts.refusedToStart++;
        await pause(START_AGAIN_MS);
      }
    }
  };
  try {
    for (const slot of SLOTS) {
      const link = server && cleanUp.use(await startLink(server.port));
      const clock = cleanUp.use(await createFakeClock());
      const [process, way] = [createWellBeing(), createWellBeing()];
      way.recover(0);
      const place: Place = { slot, link, clock, isWithoutHistory: false, current: undefined, process, way };
      places.set(slot, place);
      await start(place);
    }
  } catch (error) {
    await cleanUp.disposeAsync();
    throw error;
  }
  const placeOf = (slot: Slot) => {
    const place = places.get(slot);
    if (!place) throw new Error(`there is no ${slot}`);
    return place;
  };
  const stop = async (leaving: HeraldProcess) => {
    const { code, signal } = await leaving.stop();
    if (code === 0) return;
    const end = signal ?? `exit code ${code ?? 'unknown'}`;
    violations.push(`${leaving.name} did not stop well: ${end}\n${leaving.process.tail()}`);
  };
  return {
    counts,
    violations,
    apis: () => API_SLOTS.flatMap((slot) => placeOf(slot).current ?? []),
    workerAbleSince: () =>
      ableSince(
        WORKER_SLOTS.map(placeOf).map(({ process, way }) => [process, way, redis]),
        performance.now(),
      ),
    async beginProcessFault(slot, fault) {
      const place = placeOf(slot);
      const { current } = place;
      if (!current) throw new Error(`${slot} is not there`);
      place.process.fail();
      if (fault === 'pause') {
        counts.paused++;
        current.process.kill('SIGSTOP');
        return;
      }
      place.current = undefined;
      ended.add(current);
      counts[fault === 'kill' ? 'killed' : 'stopped']++;
      await (fault === 'kill' ? current.kill() : stop(current));
    },
    async endProcessFault(slot, fault) {
      const place = placeOf(slot);
      if (fault !== 'pause') {
        await start(place);
        return;
      }
      place.current?.process.kill('SIGCONT');
      place.process.recover(CONNECTED_MS);
    },
    beginLinkFault(slot, fault) {
      counts[fault === 'forget' ? 'forgotten' : 'cut']++;
      const { link, way } = placeOf(slot);
      way.fail();
      link?.begin(fault);
    },
    endLinkFault(slot, fault) {
      const { link, way } = placeOf(slot);
      link?.heal();
      way.recover(CONNECTED_MS + (fault === 'forget' ? NOTICED_MS : 0));
    },
    beginClockFault(slot, fault) {
      counts.misset++;
      placeOf(slot).clock.set(...CLOCK_FAULTS[fault]);
    },
    endClockFault(slot) {
      placeOf(slot).clock.set(0);
    },
    setRedisFault: (isAtFault, isOfReplica = false) => {
      // Workers don't wait for replicas.
      if (isOfReplica) return;
      if (isAtFault) redis.fail();
      else redis.recover(CONNECTED_MS);
    },
    setHistoryUnset: (isUnset) => {
      isHistoryUnset = isUnset;
    },
    async giveHistoryBack() {
      for (const place of places.values()) {
        if (!place.isWithoutHistory || !place.current) continue;
        ended.add(place.current);
        await stop(place.current);
        await start(place);
      }
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await Promise.allSettled([...places.values()].flatMap(({ current }) => current?.stop() ?? []));
      await cleanUp.disposeAsync();
    },
  };
}

/** Since when a part has been healthy. Times are by `performance.now`. */
type WellBeing = {
  readonly fail: () => void;
  /** The fault is over; recovery takes so long, in ms. */
  readonly recover: (afterMs: number) => void;
  /** A time in the future: it is still recovering. Infinity: it is unhealthy. */
  readonly since: number;
};

export function createWellBeing(now: () => number = () => performance.now()): WellBeing {
  let since = Infinity;
  return {
    fail() {
      since = Infinity;
    },
    recover(afterMs) {
      since = now() + afterMs;
    },
    get since() {
      return since;
    },
  };
}

/**
 * Since when some worker has been able to work; undefined: none is able.
 * @param needs for each worker, the parts that must be healthy
 */
export function ableSince(needs: readonly (readonly WellBeing[])[], now: number): number | undefined {
  const since = needs.map((each) => Math.max(...each.map((one) => one.since)));
  const earliest = Math.min(...since);
  return earliest <= now ? earliest : undefined;
}
