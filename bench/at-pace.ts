import { setTimeout as pause } from 'node:timers/promises';

/** Starts a task every `everyMs`, `count` times, without waiting for earlier ones; resolves when all have ended. */
export async function atPace(everyMs: number, count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  const underWay: Promise<unknown>[] = [];
  const startedAt = performance.now();
  for (let index = 0; index < count; index++) {
    const waitMs = startedAt + index * everyMs - performance.now();
    if (waitMs > 0) await pause(waitMs);
    underWay.push(work(index));
  }
  await Promise.all(underWay);
}
