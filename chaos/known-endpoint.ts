/** A receiver or a callback, and its history as the run knows it. */
export type KnownEndpoint = {
  readonly id: string;
  readonly workspaceId: string;
  /** Only for a callback: it gets the events of this Task. */
  readonly taskId?: string;
  /** It gets the events of each Task in order. */
  readonly isOrdered?: boolean;
  /** Path of its url. It never changes and identifies the endpoint. */
  readonly path: string;
  /** Never changes. */
  readonly rateLimit?: { readonly perSecond: number };
  readonly exists: Timeline<boolean>;
  readonly enabled: Timeline<boolean>;
  /** Empty: every event. */
  readonly events: Timeline<readonly string[]>;
  /** Index of the host of its url. */
  readonly host: Timeline<number>;
  /** Undefined: a secret that was never shown. */
  readonly secret: Timeline<string | undefined>;
};

export type FirstState = Pick<KnownEndpoint, 'id' | 'workspaceId' | 'taskId' | 'isOrdered' | 'path' | 'rateLimit'> & {
  readonly events: readonly string[];
  readonly host: number;
  readonly secret: string | undefined;
};

/** A new endpoint. Without `made`, it exists from the start. */
export function createKnownEndpoint(
  { events, host, secret, ...rest }: FirstState,
  made?: { readonly from: number; readonly by: number; readonly until: number },
): KnownEndpoint {
  const exists = createTimeline(made === undefined);
  if (made) exists.change({ value: true, ...made });
  return {
    ...rest,
    exists,
    enabled: createTimeline(true),
    events: createTimeline(events),
    host: createTimeline(host),
    secret: createTimeline(secret),
  };
}

/** A change of a value. Times are epoch ms. */
type Change<T> = {
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
