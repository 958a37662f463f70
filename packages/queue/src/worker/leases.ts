import { z } from 'zod';
import { createQueueKeys } from '../queue-keys.ts';
import type { QueueAccess } from '../script.ts';
import { createFinishScript, EXTEND_LEASES_LUA, PUT_BACK_LUA, RECOVER_LUA } from '../scripts/end-scripts.ts';
import type { Held } from './reservations.ts';

export type LeasesOptions = QueueAccess & {
  /** Jobs that a group may have in work, over all workers. */
  readonly groupLimit: number;
  /** See `createFinishScript`. */
  readonly loadLua: string;
};

/** Leases that one script ends at most: Redis does nothing else meanwhile. */
const MOST_RECOVERED = 200;

const Ids = z.array(z.string());
const Flags = z.array(z.number());

/** Extends and ends the leases of jobs in work. */
export function createLeases({ prefix, defineScript, groupLimit, loadLua, now }: LeasesOptions) {
  const keys = [createQueueKeys(prefix).leases];
  const putBack = defineScript('queuePutBack', PUT_BACK_LUA);
  const finish = defineScript('queueFinish', createFinishScript(loadLua));
  const extend = defineScript('queueExtend', EXTEND_LEASES_LUA);
  const recover = defineScript('queueRecover', RECOVER_LUA);
  return {
    /**
     * Lets jobs wait again where they stood.
     * @param dueAt epoch ms; 0: as before
     */
    putBack: async (jobs: readonly Held[], dueAt: number): Promise<void> => {
      const leases = jobs.flatMap(({ reserved: { handle, isProbe } }) => [handle, dueAt, isProbe ? 1 : 0]);
      await putBack(keys, [prefix, now(), groupLimit, ...leases]);
    },

    /** Ends the lease of a job whose processor recorded nothing. An unfinished job waits again. */
    finish: async ({ reserved: { handle, isProbe } }: Held): Promise<void> => {
      await finish(keys, [prefix, now(), groupLimit, handle, isProbe ? 1 : 0]);
    },

    /** Returns the handles whose leases are no longer held. */
    extend: async (handles: readonly string[], durationMs: number): Promise<ReadonlySet<string>> => {
      const isHeld = Flags.parse(await extend(keys, [now() + durationMs, ...handles]));
      return new Set(handles.filter((_, index) => isHeld[index] !== 1));
    },

    /** Lets all jobs wait again whose leases have ended. Returns their ids. */
    recover: async (): Promise<string[]> => {
      const all: string[] = [];
      for (;;) {
        const ids = Ids.parse(await recover(keys, [prefix, now(), groupLimit, MOST_RECOVERED]));
        all.push(...ids);
        if (ids.length < MOST_RECOVERED) return all;
      }
    },
  };
}
