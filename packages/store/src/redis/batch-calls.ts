type BatchOptions<T, R> = {
  /** One result per item, in their order. */
  readonly call: (items: readonly T[]) => Promise<readonly R[]>;
  /** Default: each item weighs 1. */
  readonly weightOf?: (item: T) => number;
  /** A call that weighs so much takes no further item. */
  readonly limit: number;
};

type Asked<T, R> = {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Makes one call for a batch of items: items of one turn of the event loop go together, also those of several sockets,
 * and while a call is under way all others wait for the next batch. Batches grow with the load; at rest no item waits.
 * Items go in their order. A call that fails, fails for its own items only.
 */
export function batchCalls<T, R>({ call, weightOf = () => 1, limit }: BatchOptions<T, R>): (item: T) => Promise<R> {
  let waiting: Asked<T, R>[] = [];
  let isUnderWay = false;

  const run = async (asked: readonly Asked<T, R>[]): Promise<void> => {
    try {
      const results = await call(asked.map(({ item }) => item));
      if (results.length !== asked.length) throw new Error(`${asked.length} asked, and ${results.length} answered`);
      for (const [index, { resolve }] of asked.entries()) resolve(results[index] as R);
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  };

  const nextBatch = (): Asked<T, R>[] => {
    let [count, weight] = [0, 0];
    for (let next = waiting[0]; next && weight < limit; next = waiting[count]) {
      weight += weightOf(next.item);
      count++;
    }
    const batch = waiting.slice(0, count);
    waiting = waiting.slice(count);
    return batch;
  };

  // After what the ended call let go on, which may ask for more.
  const schedule = () => {
    if (isUnderWay || waiting.length === 0) return;
    isUnderWay = true;
    setImmediate(() => {
      void run(nextBatch()).finally(() => {
        isUnderWay = false;
        schedule();
      });
    });
  };

  return (item) =>
    new Promise<R>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      schedule();
    });
}
