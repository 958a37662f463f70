import type { Seed } from '@herald/core';
import type { Request } from 'express';

const seeds = new WeakMap<Request, Seed>();

export function setSeed(req: Request, seed: Seed): void {
  seeds.set(req, seed);
}

/** The seed of what the request creates, the same in every run of it; undefined without an `Idempotency-Key`. */
export function seedOf(req: Request): Seed | undefined {
  return seeds.get(req);
}
