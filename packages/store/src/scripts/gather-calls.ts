export type GatherOptions<T, R> = {
  /** One result per item, in their order. */
  readonly call: (items: readonly T[]) => Promise<readonly R[]>;
  /** Default: each item weighs 1. */
  readonly weightOf?: (item: T) => number;
  /** A call that weighs so much takes no further item. */
  readonly limit: number;
  /** Calls at a time. Default 1, which gathers most; 2 let Redis work on one while the answer to the other is being read. */
  readonly underWay?: number;
};

type Asked<T, R> = {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Makes few calls of much that is asked for: those of one turn of the event loop go together, and while calls are under way all
 * others gather for the next. The more is asked for, the more a call carries; at rest nobody waits. Calls are begun in the order of
 * what they carry. A call that fails fails for all who wait.
 */
export function gatherCalls<T, R>({
  call,
  weightOf = () => 1,
  limit,
  underWay: mostUnderWay = 1,
}: GatherOptions<T, R>): (item: T) => Promise<R> {
  let gathered: Asked<T, R>[] = [];
  let underWay = 0;
  let isScheduled = false;

  const run = async (asked: readonly Asked<T, R>[]): Promise<void> => {
    try {
      const results = await call(asked.map(({ item }) => item));
      if (results.length !== asked.length) throw new Error(`${asked.length} asked, and ${results.length} answered`);
      for (const [index, { resolve }] of asked.entries()) resolve(results[index] as R);
    } catch (error) {
      // Those behind it too: they have waited as long for it, and would wait once more for the same.
      const behind = gathered;
      gathered = [];
      for (const { reject } of [...asked, ...behind]) reject(error);
    }
  };

  const take = (): Asked<T, R>[] => {
    let [count, weight] = [0, 0];
    for (let next = gathered[0]; next && weight < limit; next = gathered[count]) {
      weight += weightOf(next.item);
      count++;
    }
    const taken = gathered.slice(0, count);
    gathered = gathered.slice(count);
    return taken;
  };

  const flush = () => {
    isScheduled = false;
    while (gathered.length > 0 && underWay < mostUnderWay) {
      underWay++;
      void run(take()).finally(() => {
        underWay--;
        schedule();
      });
    }
  };

  // After what the ended call let go on, which may ask for more.
  const schedule = () => {
    if (isScheduled || gathered.length === 0 || underWay >= mostUnderWay) return;
    isScheduled = true;
    process.nextTick(flush);
  };

  return (item) =>
    new Promise<R>((resolve, reject) => {
      gathered.push({ item, resolve, reject });
      schedule();
    });
}
