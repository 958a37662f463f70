import fc from 'fast-check';

/** A status, or none. */
export type Answer = 200 | 410 | 500 | 'none';

/** What may happen to the deliveries of a workspace. `pick` chooses among what there is. */
export type Step =
  | { readonly kind: 'accept'; readonly task: number; readonly count: number }
  | { readonly kind: 'reserve'; readonly worker: number; readonly room: number }
  | { readonly kind: 'end'; readonly pick: number; readonly answer: Answer }
  | { readonly kind: 'putBack'; readonly pick: number }
  | { readonly kind: 'kill'; readonly worker: number }
  | { readonly kind: 'recover' }
  | { readonly kind: 'redeliver'; readonly pick: number }
  | { readonly kind: 'replay'; readonly receiver: number; readonly delivered: boolean }
  | { readonly kind: 'purge' }
  | { readonly kind: 'cancel'; readonly receiver: number }
  | { readonly kind: 'toggle'; readonly receiver: number }
  | { readonly kind: 'move'; readonly receiver: number }
  | { readonly kind: 'switchOrder'; readonly receiver: number }
  | { readonly kind: 'switchRate'; readonly receiver: number; readonly perSecond: number | undefined }
  | { readonly kind: 'advance'; readonly ms: number };

/** What the steps may choose from. */
export const [TASKS, RECEIVERS, WORKERS] = [3, 3, 2];

const answer: fc.Arbitrary<Answer> = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Answer>(200) },
  { weight: 8, arbitrary: fc.constantFrom<Answer[]>(500, 'none') },
  { weight: 1, arbitrary: fc.constant<Answer>(410) },
);
const pick = fc.nat(100);
const receiver = fc.nat(RECEIVERS - 1);
const perSecond = fc.constantFrom(undefined, 1, 5, 100);
const worker = fc.nat(WORKERS - 1);

const weighted: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<Step>])[] = [
  [6, fc.record({ kind: fc.constant('accept'), task: fc.nat(TASKS - 1), count: fc.integer({ min: 1, max: 3 }) })],
  [8, fc.record({ kind: fc.constant('reserve'), worker, room: fc.integer({ min: 1, max: 6 }) })],
  [10, fc.record({ kind: fc.constant('end'), pick, answer })],
  [1, fc.record({ kind: fc.constant('putBack'), pick })],
  [1, fc.record({ kind: fc.constant('kill'), worker })],
  [1, fc.record({ kind: fc.constant('recover') })],
  [2, fc.record({ kind: fc.constant('redeliver'), pick })],
  [2, fc.record({ kind: fc.constant('replay'), receiver, delivered: fc.boolean() })],
  [4, fc.record({ kind: fc.constant('purge') })],
  [1, fc.record({ kind: fc.constant('cancel'), receiver })],
  [1, fc.record({ kind: fc.constant('toggle'), receiver })],
  [1, fc.record({ kind: fc.constant('move'), receiver })],
  [1, fc.record({ kind: fc.constant('switchOrder'), receiver })],
  [1, fc.record({ kind: fc.constant('switchRate'), receiver, perSecond })],
  [4, fc.record({ kind: fc.constant('advance'), ms: fc.constantFrom(1, 300, 5_000, 21_000, 70_000) })],
];

const step = fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary })));
export const steps: fc.Arbitrary<readonly Step[]> = fc.array(step, {
  minLength: 10,
  maxLength: 80,
  size: 'max',
});

/** What a receiver asks for when it is registered. Two of the three hosts are the same. */
export type Wishes = {
  readonly host: string;
  readonly isOrdered: boolean;
  readonly timeoutMs: number;
  readonly perSecond: number | undefined;
};
export const wishes: fc.Arbitrary<readonly Wishes[]> = fc.array(
  fc.record({
    host: fc.constantFrom('hooks', 'hooks', 'other'),
    isOrdered: fc.boolean(),
    timeoutMs: fc.constantFrom(60_000, 86_400_000),
    perSecond,
  }),
  { minLength: RECEIVERS, maxLength: RECEIVERS },
);
