import { z } from 'zod';
import { RINGS, type QueueKeys, type Ring } from '../queue-keys.ts';
import type { DefineScript } from '../script.ts';
import { createReserveScript } from '../scripts/reserve-script.ts';

/** A job under a lease. */
export type Reserved = {
  readonly id: string;
  /** Names the lease. A script that ends the job gives the lease back by it. */
  readonly handle: string;
  readonly group: string;
  readonly ring: Ring;
  /** It goes through an open breaker, alone. */
  readonly isProbe: boolean;
  /** The result of `readRows` on the reply of `load`, which is null when `load` returned nil or false, or failed. */
  readonly loaded: unknown;
};

export type ReserveRequest = {
  /** Redis' time, epoch ms. */
  readonly now: number;
  readonly leaseEndsAt: number;
  /** Unique among the reserves of all processes. */
  readonly nonce: string;
  /** Jobs in work that a group may have, over all workers. */
  readonly groupLimit: number;
  /** The most jobs to take, by ring. */
  readonly rooms: readonly number[];
  /** Groups that keep this worker waiting far longer than usual. */
  readonly suspects: readonly string[];
};

export type ReserveReply = {
  /** A queue that is paused has jobs of express groups only. */
  readonly kind: 'reserved' | 'paused';
  readonly jobs: readonly Reserved[];
  /** By ring, whether some of its groups are still ready. */
  readonly left: readonly boolean[];
  /** When to look at the first group that is not ready now, epoch ms; 0: there is none. */
  readonly lookAgainAt: number;
};

const Flag = z.number().transform((value) => value === 1);
const RingNumber = z.enum(['0', '1', '2', '3']).transform((text) => Number(text) as Ring);
const Row = z.tuple([z.string(), z.string(), RingNumber, Flag, z.unknown()]);
const Left = z.tuple([Flag, Flag, Flag, Flag]);
const Reply = z.tuple([z.enum(['reserved', 'paused']), z.array(Row), z.coerce.number(), Left]);

/** Parses the rows that `load` returned for the jobs of one reply, which may share parts. */
export type ReadRows = (rows: readonly { readonly id: string; readonly row: unknown }[]) => readonly unknown[];

/** @param loadLua see `createReserveScript` */
export function createReserve(defineScript: DefineScript, keys: QueueKeys, loadLua: string, readRows: ReadRows) {
  const reserve = defineScript('queueReserve', createReserveScript(loadLua));
  const scriptKeys = [
    keys.leases,
    keys.settings,
    keys.later,
    ...RINGS.map(keys.ready),
    ...RINGS.map(keys.wake),
    ...RINGS.map(keys.turns),
  ];
  return async (request: ReserveRequest): Promise<ReserveReply> => {
    const { now, leaseEndsAt, nonce, groupLimit, rooms, suspects } = request;
    const args = [keys.prefix, now, leaseEndsAt, nonce, groupLimit, ...rooms, ...suspects];
    const [kind, rows, lookAgainAt, left] = Reply.parse(await reserve(scriptKeys, args));
    const loaded = readRows(rows.map(([id, , , , row]) => ({ id, row })));
    const jobs = rows.map(([id, handle, ring, isProbe], index) => {
      const group = groupOf(handle);
      return { id, handle, group, ring, isProbe, loaded: loaded[index] };
    });
    return { kind, jobs, left, lookAgainAt };
  };
}
export type Reserve = ReturnType<typeof createReserve>;

/** The second part of a handle, which is `score|group|nonce|id`. */
function groupOf(handle: string): string {
  return handle.split('|', 2)[1] ?? '';
}
