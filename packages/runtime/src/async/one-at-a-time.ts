/** Keeps runs from overlapping: a call while a run is under way gets that run's result, and starts no other. */
export function oneAtATime<T>(run: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined;
  return () => {
    underWay ??= run().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}
