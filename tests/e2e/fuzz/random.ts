/** A source of randomness that gives the same for the same seed. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** A whole number from 0 to below the limit. */
  below(limit: number): number;
  chance(share: number): boolean;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
  pick<Item>(items: readonly Item[]): Item | undefined;
}

/** Mulberry32: 32 bits of state are enough to tell requests apart. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    next,
    below,
    chance: (share) => next() < share,
    pick: <Item>(items: readonly Item[]) => items[below(items.length)] as Item,
  };
}

/** Of one request of a run: a failure is found again without all that came before it. */
export function randomOf(seed: number, index: number): Random {
  return createRandom(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35));
}
