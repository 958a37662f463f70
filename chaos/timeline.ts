/** A change of a value. Times are epoch ms. */
export type Change<T> = {
  readonly value: T;
  /** Earliest time of its effect. */
  readonly from: number;
  /** By then it has surely taken effect; Infinity: it may never have. */
  readonly by: number;
  /**
   * Latest time of its effect; later than `by` when a request for it was never answered, and may be carried out late.
   */
  readonly until: number;
};

/** The possible values over time, inferred from requests for changes and their answers. */
export type Timeline<T> = {
  change(change: Change<T>): void;
  /** Every value that may have been in force between two times. */
  possible(from: number, to: number): T[];
  /** The value that was requested last. */
  latest(): T;
};

export function createTimeline<T>(initial: T, since = -Infinity): Timeline<T> {
  const changes: Change<T>[] = [{ value: initial, from: since, by: since, until: since }];
  return {
    change: (change) => void changes.push(change),
    possible(from, to) {
      // A change is over when a later one, begun after its latest effect, has surely taken effect.
      const isOver = (change: Change<T>, index: number) =>
        changes.some((later, place) => place > index && later.from >= change.until && later.by <= from);
      return changes.filter((change, index) => change.from <= to && !isOver(change, index)).map(({ value }) => value);
    },
    latest: () => changes.at(-1)?.value ?? initial,
  };
}
