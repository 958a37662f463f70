export type GatherOptions<T, R> = {
  /** One result per item, in their order. */
  readonly call: (items: readonly T[]) => Promise<readonly R[]>;
  readonly weightOf: (item: T) => number;
  /** A call that weighs so much takes no further item. */
  readonly limit: number;
};

type Asked<T, R> = {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
};

/** Makes one call, or few, of all that is asked for in one turn of the event loop. Calls are begun in the order of what they carry. */
export function gatherInTurn<T, R>({ call, weightOf, limit }: GatherOptions<T, R>): (item: T) => Promise<R> {
  let gathered: Asked<T, R>[] = [];

  const run = async (asked: readonly Asked<T, R>[]): Promise<void> => {
    try {
      const results = await call(asked.map(({ item }) => item));
      if (results.length !== asked.length) throw new Error(`${asked.length} asked, and ${results.length} answered`);
      for (const [index, { resolve }] of asked.entries()) resolve(results[index] as R);
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  };

  const flush = () => {
    const all = gathered;
    gathered = [];
    for (let start = 0; start < all.length;) {
      let [end, weight] = [start, 0];
      for (let next = all[end]; next && weight < limit; next = all[end]) {
        weight += weightOf(next.item);
        end++;
      }
      void run(all.slice(start, end));
      start = end;
    }
  };

  return (item) =>
    new Promise<R>((resolve, reject) => {
      if (gathered.push({ item, resolve, reject }) === 1) process.nextTick(flush);
    });
}
