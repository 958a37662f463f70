import type { DeliveryQueue } from '../queues/delivery-queue.ts';
import type { Duty, DutyStore } from './duty-store.ts';

export type AddOwedJobsDeps = { readonly duties: DutyStore; readonly queue: Pick<DeliveryQueue, 'add'> };

/**
 * Puts in line what the duties' deliveries still need, then clears their marks. A crash in between leaves the marks,
 * and the next one who comes adds the same jobs again, which changes nothing.
 * @param markedAt under which the duties were found or taken, epoch ms
 */
export async function addOwedJobs(
  { duties, queue }: AddOwedJobsDeps,
  owed: readonly Duty[],
  markedAt: number,
  now: number,
): Promise<void> {
  const jobs = await Promise.all(
    owed.map(async ({ event, deliveryIds }) => {
      const pending = await duties.findPending('deliveries', deliveryIds);
      return pending
        .filter(({ hasJob, isInBacklog }) => !hasJob && !isInBacklog)
        .map(({ id, dueAt }) => ({ id, event, dueAt }));
    }),
  );
  await queue.add(jobs.flat(), now);
  await Promise.all(owed.map(({ id }) => duties.clearOwed(id, markedAt)));
}
