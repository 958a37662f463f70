import { randomBytes } from 'node:crypto';

/**
 * The source of a new thing's id and time of creation. A request that is repeated under its `Idempotency-Key` has the
 * seed of the first run, and so finds the thing that the first run made instead of making another.
 */
export type Seed = {
  /** Epoch ms. */
  readonly at: number;
  /** 16 bytes. */
  readonly random: Uint8Array;
};

export function newSeed(nowMs: number): Seed {
  return { at: nowMs, random: randomBytes(16) };
}
