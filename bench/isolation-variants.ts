import type { Behaviour } from './start-receivers.ts';

/** What stands beside the receivers of the first workspace. Everything else is as in the run without it. */
export type Variant = {
  readonly name: string;
  readonly says: string;
  /** Behaviour of the ten receivers of the first workspace; those that are not `ok` come first. */
  readonly behaviours: readonly Behaviour[];
  /** The first receiver is on the host of the second. */
  readonly sharesHost?: boolean;
  /** Receivers of other workspaces, ten in each, which together get half as many transitions in addition. */
  readonly others?: readonly Behaviour[];
  /** Additional deliveries, only for the first receiver. */
  readonly burst?: { readonly count: number; readonly when: 'before' | 'during' };
  /**
   * Tasks of a second workspace that each report once, before the load, to a callback at one host that never answers.
   */
  readonly deadCallbacks?: number;
  /** What a second workspace has waiting when the load begins: for healthy callbacks of as many hosts, or for ten receivers. */
  readonly waiting?: { readonly of: 'groups' | 'receivers'; readonly count: number };
  /** Lists of failed deliveries that a second workspace asks for in a second; it has delivered ones alone. */
  readonly listsPerSecond?: number;
  readonly load: IsolationLoad;
};

export type IsolationLoad = {
  /** Deliveries a second to the first workspace. */
  readonly perSecond: number;
  /** Slots of quick groups. */
  readonly concurrency: number;
};

/** How much waits in the variants that have much waiting. */
export type WaitingSizes = { readonly groups: number; readonly pending: number };

const RECEIVERS = 10;
const BURST = 20_000;
const LISTS_PER_SECOND = 50;
const USUAL: IsolationLoad = { perSecond: 200, concurrency: 50 };
/** The load of variants whose neighbours are late, many or dear. */
const LARGER: IsolationLoad = { perSecond: 300, concurrency: 100 };

function receivers(...bad: readonly Behaviour[]): readonly Behaviour[] {
  return [...bad, ...new Array<Behaviour>(RECEIVERS - bad.length).fill('ok')];
}

/** The runs that the others are compared with, one for each load. */
export const HEALTHY: Variant = {
  name: 'healthy',
  says: 'ten healthy receivers',
  behaviours: receivers(),
  load: USUAL,
};
const ALONE: readonly Variant[] = [
  HEALTHY,
  { name: 'healthy-300', says: 'the same at 300/s', behaviours: receivers(), load: LARGER },
];

/** The run of the same load without neighbours. */
export function aloneOf({ load }: Variant): Variant {
  const alone = ALONE.find((variant) => variant.load === load);
  if (!alone) throw new Error('every load is measured without neighbours too');
  return alone;
}

/** So many receivers of other workspaces answer 200 after so long. */
function lazy(count: number, afterMs: number): Variant {
  return {
    name: `lazy-${count}-${afterMs}`,
    says: `${count} receivers of other workspaces answer 200 after ${afterMs} ms`,
    behaviours: receivers(),
    others: new Array<Behaviour>(count).fill(afterMs),
    load: LARGER,
  };
}

function listVariants({ groups, pending }: WaitingSizes): readonly Variant[] {
  return [
    { name: 'dead', says: 'one never answers', behaviours: receivers('hang'), load: USUAL },
    {
      name: 'dead-burst',
      says: `one never answers, ${BURST} deliveries for it before`,
      behaviours: receivers('hang'),
      burst: { count: BURST, when: 'before' },
      load: USUAL,
    },
    { name: 'failing', says: 'one answers 500 at once', behaviours: receivers('fail'), load: USUAL },
    { name: 'dribble', says: 'one dribbles its answer', behaviours: receivers('dribble'), load: USUAL },
    {
      name: 'healthy-burst',
      says: `${BURST} deliveries for one healthy receiver at once`,
      behaviours: receivers(),
      burst: { count: BURST, when: 'during' },
      load: USUAL,
    },
    {
      name: 'ten-dead',
      says: 'ten of another workspace never answer',
      behaviours: receivers(),
      others: new Array<Behaviour>(RECEIVERS).fill('hang'),
      load: USUAL,
    },
    {
      name: 'callbacks',
      says: '1,000 callbacks to one host that never answers',
      behaviours: receivers(),
      deadCallbacks: 1_000,
      load: USUAL,
    },
    ...[5_000, 1_500].flatMap((afterMs) => [2, 10, 50].map((count) => lazy(count, afterMs))),
    {
      name: 'retry-after',
      says: 'one answers 503 with Retry-After: 40, on the host of another one',
      behaviours: receivers('retry-after'),
      sharesHost: true,
      load: LARGER,
    },
    {
      name: 'groups',
      says: `${groups} hosts of another workspace have a delivery waiting each`,
      behaviours: receivers(),
      waiting: { of: 'groups', count: groups },
      load: LARGER,
    },
    {
      name: 'pending',
      says: `ten receivers of another workspace have ${pending} deliveries waiting`,
      behaviours: receivers(),
      waiting: { of: 'receivers', count: pending },
      load: LARGER,
    },
    {
      name: 'lists',
      says: `another workspace lists its failed deliveries ${LISTS_PER_SECOND} times a second`,
      behaviours: receivers(),
      listsPerSecond: LISTS_PER_SECOND,
      load: LARGER,
    },
  ];
}

/**
 * The chosen variants, all of them by default, each load's behind the run without neighbours.
 * @throws Error with a sentence for the user
 */
export function chooseVariants(names: readonly string[], sizes: WaitingSizes): readonly Variant[] {
  const all = listVariants(sizes);
  const known = [...ALONE, ...all];
  const chosen = names.map((name) => {
    const variant = known.find((each) => each.name === name);
    if (variant) return variant;
    throw new Error(`there is no variant ${name}; there are ${all.map((each) => each.name).join(', ')}`);
  });
  const measured = names.length === 0 ? all : chosen;
  return ALONE.flatMap((alone) => {
    const ofLoad = measured.filter((variant) => aloneOf(variant) === alone);
    return ofLoad.length === 0 ? [] : [alone, ...ofLoad.filter((variant) => variant !== alone)];
  });
}
