/** One change of something. Times are epoch ms. */
export type Change<T> = {
  readonly value: T;
  /** It took effect no earlier. */
  readonly from: number;
  /** It surely was in force once by then; Infinity: it may never have been. */
  readonly by: number;
  /** It took effect no later; later than `by` when some request for it was never answered, and may be carried out late. */
  readonly until: number;
};

/** The values that something had over time, as far as somebody can know who only asks for changes and gets answers, or none. */
export type Timeline<T> = {
  change(change: Change<T>): void;
  /** Every value that may have been in force at some moment between two times. */
  possible(from: number, to: number): T[];
  /** The one last asked for. */
  latest(): T;
};

export function createTimeline<T>(initial: T, since = -Infinity): Timeline<T> {
  const changes: Change<T>[] = [{ value: initial, from: since, by: since, until: since }];
  return {
    change: (change) => void changes.push(change),
    possible(from, to) {
      // A change is over once another one, which began after it could last take effect, has surely been made.
      const isOver = (change: Change<T>, index: number) =>
        changes.some((later, place) => place > index && later.from >= change.until && later.by <= from);
      return changes.filter((change, index) => change.from <= to && !isOver(change, index)).map(({ value }) => value);
    },
    latest: () => changes.at(-1)?.value ?? initial,
  };
}
