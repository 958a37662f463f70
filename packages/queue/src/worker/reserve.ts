import { z } from 'zod';
import type { QueueKeys, Ring } from '../queue-keys.ts';
import { RINGS } from '../queue-keys.ts';
import type { DefineScript } from '../script.ts';
import { createReserveScript } from '../scripts/reserve-script.ts';

/** A job under a lease. */
export type Reserved = {
  readonly id: string;
  /** Names the lease: what ends the job in a script gives it back. */
  readonly handle: string;
  readonly group: string;
  readonly ring: Ring;
  /** It goes through an open breaker, alone. */
  readonly isProbe: boolean;
  /** What `readRows` made of what `load` replied of it: null when that was nil, false, or failed. */
  readonly loaded: unknown;
};

export type ReserveRequest = {
  /** Redis' time, epoch ms. */
  readonly now: number;
  readonly leaseEndsAt: number;
  /** What no other reserve of any process has. */
  readonly nonce: string;
  /** Jobs in work that a group may have, over all workers. */
  readonly groupLimit: number;
  /** Most jobs of each ring. */
  readonly rooms: readonly number[];
  readonly slowGroups: readonly string[];
};

export type ReserveReply = {
  /** A queue that is paused has jobs of express groups only. */
  readonly kind: 'reserved' | 'paused';
  readonly jobs: readonly Reserved[];
  /** By ring, whether some of its groups are still ready. */
  readonly left: readonly boolean[];
  /** When a group is to be looked at that is not ready now, epoch ms; 0: there is none. */
  readonly lookAgainAt: number;
};

const Flag = z.number().transform((value) => value === 1);
const RingNumber = z.enum(['0', '1', '2']).transform((text) => Number(text) as Ring);
const Row = z.tuple([z.string(), z.string(), RingNumber, Flag, z.unknown()]);
const Reply = z.tuple([z.enum(['reserved', 'paused']), z.array(Row), Flag, Flag, Flag, z.coerce.number()]);

/** What was loaded of a job, as its owner reads it; all of one reply, which may share parts. */
export type ReadRows = (rows: readonly { readonly id: string; readonly row: unknown }[]) => readonly unknown[];

/** @param loadLua see `createReserveScript` */
export function createReserve(defineScript: DefineScript, keys: QueueKeys, loadLua: string, readRows: ReadRows) {
  const reserve = defineScript('queueReserve', createReserveScript(loadLua));
  const scriptKeys = [keys.leases, keys.settings, keys.later, ...RINGS.map(keys.ready), ...RINGS.map(keys.wake)];
  return async (request: ReserveRequest): Promise<ReserveReply> => {
    const { now, leaseEndsAt, nonce, groupLimit, rooms, slowGroups } = request;
    const args = [keys.prefix, now, leaseEndsAt, nonce, groupLimit, ...rooms, ...slowGroups];
    const reply = Reply.parse(await reserve(scriptKeys, args));
    const [kind, rows, express, sound, suspect, lookAgainAt] = reply;
    const loaded = readRows(rows.map(([id, , , , row]) => ({ id, row })));
    const jobs = rows.map(([id, handle, ring, isProbe], index) => ({
      id,
      handle,
      group: groupOf(handle),
      ring,
      isProbe,
      loaded: loaded[index],
    }));
    return { kind, jobs, left: [express, sound, suspect], lookAgainAt };
  };
}
export type Reserve = ReturnType<typeof createReserve>;

/** The second part of a handle: score, group, nonce, id. */
function groupOf(handle: string): string {
  return handle.split('|', 2)[1] ?? '';
}
