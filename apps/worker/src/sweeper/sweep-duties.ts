import {
  addOwedJobs,
  type DeliveryQueue,
  type Duty,
  type DutyStore,
  type Logger,
  type QueueName,
  type UpkeepMetrics,
} from '@herald/infra';

export type SweepDeps = {
  readonly duties: DutyStore;
  readonly queue: Pick<DeliveryQueue, 'add' | 'hurry'>;
  readonly cancelUnsentTest: (id: string) => Promise<void>;
  readonly metrics: Pick<UpkeepMetrics, 'found'>;
  readonly logger: Logger;
  readonly now: () => number;
};

/** Transitions taken in one go; what is more is taken at once afterwards. */
const BATCH = 200;
const ROUNDS = 10;
/** A sweeper that dies leaves its duties to another after so long, in ms. */
const LEASE_MS = 30_000;
const AUDIT_EVERY_MS = 600_000;
const LINE: QueueName = 'deliveries';

/**
 * Adds the jobs of transitions that were accepted but whose process died before it added them. Adding is idempotent by
 * delivery id, so a duty that two sweepers complete is completed once.
 * @returns transitions completed
 */
export async function sweepOwed(deps: SweepDeps): Promise<number> {
  let swept = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const now = deps.now();
    const leaseEndsAt = now + LEASE_MS;
    const duties = await deps.duties.claimOwed(now, leaseEndsAt, BATCH);
    const isRedelivery = ({ id }: Duty) => id.startsWith('dlv_');
    await addOwedJobs(
      deps,
      duties.filter((duty) => !isRedelivery(duty)),
      leaseEndsAt,
      now,
    );
    // The mark of a redelivery stays until its attempt is recorded: its job may be in work right now and end without it.
    for (const { id, event } of duties.filter(isRedelivery)) await deps.queue.hurry({ id, event }, now);
    for (const duty of duties) reportOwed(deps, duty, isRedelivery(duty));
    swept += duties.length;
    if (duties.length < BATCH) break;
  }
  return swept;
}

function reportOwed({ metrics, logger }: SweepDeps, { id, event }: Duty, isRedelivery: boolean): void {
  metrics.found(isRedelivery ? 'redelivery_owed' : 'jobs_owed');
  if (isRedelivery) logger.info('sweeper.redelivery_owed', { deliveryId: id, event });
  else logger.warn('sweeper.jobs_owed', { transitionId: id, event });
}

/**
 * Looks after pending deliveries that may be nowhere: those whose job vanished get one again.
 * @returns deliveries found without a job
 */
export async function auditOpen(deps: SweepDeps): Promise<number> {
  let found = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const now = deps.now();
    const duties = await deps.duties.claimAudits(now, now + AUDIT_EVERY_MS, BATCH);
    for (const duty of duties) found += await auditDuty(deps, duty, now);
    if (duties.length < BATCH) break;
  }
  return found;
}

async function auditDuty(deps: SweepDeps, duty: Duty, now: number): Promise<number> {
  if (duty.event === 'webhook.test') {
    // Tests are sent at once or never: one that is still pending was lost with its worker.
    for (const { id } of await deps.duties.findPending('tests', duty.deliveryIds)) {
      await deps.cancelUnsentTest(id);
      deps.metrics.found('test_unsent');
    }
    return 0;
  }
  const homeless = (await deps.duties.findPending(LINE, duty.deliveryIds)).filter(
    ({ hasJob, isInBacklog }) => !hasJob && !isInBacklog,
  );
  await deps.queue.add(
    homeless.map(({ id, dueAt }) => ({ id, event: duty.event, dueAt })),
    now,
  );
  if (homeless.length > 0) deps.metrics.found('job_missing', homeless.length);
  for (const { id } of homeless) deps.logger.warn('sweeper.job_missing', { deliveryId: id });
  return homeless.length;
}
