import { randomBytes } from 'node:crypto';

/**
 * What the id and the time of creation of a new thing are made from. A request that is repeated under its `Idempotency-Key`
 * has the seed of the first run, and so finds what that one made instead of making another.
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
