import type { Behaviour } from './start-receivers.ts';

/** The faults of one run. Everything else is as in the healthy run. */
export type Variant = {
  readonly name: string;
  readonly says: string;
  /** Behaviour of the ten receivers of the first workspace; those that are not `ok` come first. */
  readonly behaviours: readonly Behaviour[];
  /** Receivers of other workspaces, ten in each, which together get half of the transitions. */
  readonly others?: readonly Behaviour[];
  /** Additional deliveries, only for the first receiver. */
  readonly burst?: { readonly count: number; readonly when: 'before' | 'during' };
  /**
   * Tasks of a second workspace that each report once, before the load, to a callback at one host that never answers.
   */
  readonly deadCallbacks?: number;
  /** Default: 200. */
  readonly perSecond?: number;
  /** Slots of quick destinations. Default: 50. */
  readonly concurrency?: number;
};

const RECEIVERS = 10;
const BURST = 20_000;
const LAZY_PER_SECOND = 300;

/** So many receivers of other workspaces answer 200 after so long. */
function lazy(count: number, afterMs: number): Variant {
  return {
    name: `lazy-${count}-${afterMs}`,
    says: `${count} of other workspaces answer 200 after ${afterMs} ms; ${LAZY_PER_SECOND} deliveries/s in all`,
    behaviours: receivers(),
    others: new Array<Behaviour>(count).fill(afterMs),
    perSecond: LAZY_PER_SECOND,
    concurrency: 100,
  };
}

function receivers(...bad: readonly Behaviour[]): readonly Behaviour[] {
  return [...bad, ...new Array<Behaviour>(RECEIVERS - bad.length).fill('ok')];
}

/** The run that the others are compared with. */
export const HEALTHY: Variant = { name: 'healthy', says: 'ten healthy receivers', behaviours: receivers() };

export const VARIANTS: readonly Variant[] = [
  { name: 'dead', says: 'one never answers', behaviours: receivers('hang') },
  {
    name: 'dead-burst',
    says: `one never answers, ${BURST} deliveries for it before`,
    behaviours: receivers('hang'),
    burst: { count: BURST, when: 'before' },
  },
  { name: 'failing', says: 'one answers 500 at once', behaviours: receivers('fail') },
  { name: 'dribble', says: 'one dribbles its answer', behaviours: receivers('dribble') },
  {
    name: 'healthy-burst',
    says: `${BURST} deliveries for one healthy receiver at once`,
    behaviours: receivers(),
    burst: { count: BURST, when: 'during' },
  },
  {
    name: 'ten-dead',
    says: 'ten never answer, beside ten healthy ones',
    behaviours: receivers(),
    others: new Array<Behaviour>(RECEIVERS).fill('hang'),
  },
  {
    name: 'callbacks',
    says: '1,000 callbacks to one host that never answers',
    behaviours: receivers(),
    deadCallbacks: 1_000,
  },
  ...[5_000, 1_500].flatMap((afterMs) => [2, 10, 50].map((count) => lazy(count, afterMs))),
];

/** @throws Error with a sentence for the user */
export function chooseVariants(names: readonly string[]): readonly Variant[] {
  if (names.length === 0) return VARIANTS;
  return names
    .map((name) => {
      const variant = [HEALTHY, ...VARIANTS].find((known) => known.name === name);
      if (variant) return variant;
      throw new Error(`there is no variant ${name}; there are ${VARIANTS.map((known) => known.name).join(', ')}`);
    })
    .filter((variant) => variant !== HEALTHY);
}
