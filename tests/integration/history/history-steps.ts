import fc from 'fast-check';

/** Which list a reader walks through. `filter`: the list of the workspace, of one Task. */
export type ListKind = 'workspace' | 'receiver' | 'failed' | 'filter' | 'task';

/** What may happen to deliveries that move to history. `pick` chooses among what there is. */
export type Step =
  | { readonly kind: 'accept'; readonly task: number; readonly afterMs: number }
  | { readonly kind: 'attempt'; readonly pick: number; readonly isGood: boolean }
  /** A mover writes what has settled, and dies. */
  | { readonly kind: 'write' }
  | { readonly kind: 'move' }
  | { readonly kind: 'redeliver'; readonly pick: number }
  | { readonly kind: 'replay'; readonly receiver: number; readonly delivered: boolean }
  | { readonly kind: 'erase'; readonly task: number }
  /** Redis forgets a Task, once all of its deliveries have left. */
  | { readonly kind: 'forget'; readonly task: number }
  | { readonly kind: 'begin'; readonly list: ListKind; readonly pick: number; readonly limit: number }
  /** One more page of a list that was begun. `beside`: a mover works at the same moment. */
  | { readonly kind: 'page'; readonly pick: number; readonly beside: boolean }
  | { readonly kind: 'look'; readonly pick: number };

/** What the steps may choose from. */
export const [TASKS, RECEIVERS] = [3, 2];

const pick = fc.nat(100);
const task = fc.nat(TASKS - 1);
const list = fc.constantFrom<ListKind[]>('workspace', 'receiver', 'failed', 'filter', 'task');

const weighted: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<Step>])[] = [
  [6, fc.record({ kind: fc.constant('accept'), task, afterMs: fc.constantFrom(0, 0, 1, 5) })],
  [8, fc.record({ kind: fc.constant('attempt'), pick, isGood: fc.boolean() })],
  [2, fc.record({ kind: fc.constant('write') })],
  [4, fc.record({ kind: fc.constant('move') })],
  [3, fc.record({ kind: fc.constant('redeliver'), pick })],
  [2, fc.record({ kind: fc.constant('replay'), receiver: fc.nat(RECEIVERS - 1), delivered: fc.boolean() })],
  [1, fc.record({ kind: fc.constant('erase'), task })],
  [1, fc.record({ kind: fc.constant('forget'), task })],
  [3, fc.record({ kind: fc.constant('begin'), list, pick, limit: fc.integer({ min: 1, max: 5 }) })],
  [8, fc.record({ kind: fc.constant('page'), pick, beside: fc.boolean() })],
  [2, fc.record({ kind: fc.constant('look'), pick })],
];

export const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary }))),
  { minLength: 20, maxLength: 80, size: 'max' },
);
