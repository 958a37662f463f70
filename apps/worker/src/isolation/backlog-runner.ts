import type { DeliveryId, DestinationId } from '@herald/core';
import type { BacklogStore, Logger, UpkeepMetrics } from '@herald/infra';
import type { DestinationGate, Pass, SendEnd } from './destination-gate.ts';

export type BacklogDelivery = {
  readonly id: DeliveryId;
  readonly destination: DestinationId;
  readonly isProbe: boolean;
};

export type BacklogRunnerDeps = {
  readonly gate: Pick<DestinationGate, 'enter' | 'leave'>;
  readonly backlog: Pick<BacklogStore, 'take'>;
  /** Attempts a delivery that was taken, and sees to it that it leaves the backlog. */
  readonly attempt: (delivery: BacklogDelivery) => Promise<SendEnd>;
  /** A lease outlives everything that an attempt can take, in ms. */
  readonly leaseMs: number;
  readonly metrics: Pick<UpkeepMetrics, 'ownFault'>;
  readonly logger: Logger;
  /** Epoch ms. */
  readonly now: () => number;
};

export type BacklogRunner = {
  /** There may be room for a delivery of this destination's backlog. */
  readonly poke: (destination: DestinationId) => void;
  /** Takes nothing more, and waits for what is in flight. */
  readonly stop: () => Promise<void>;
};

/**
 * Serves backlogs outside BullMQ: takes a delivery when its destination has room, attempts it, and takes the next one
 * when it is settled. Nothing polls: a settled send, freed room or the sweeper starts it. A worker that dies leaves its
 * deliveries in the backlog under leases that end.
 */
export function createBacklogRunner(deps: BacklogRunnerDeps): BacklogRunner {
  const { gate, backlog, attempt, leaseMs, metrics, logger, now } = deps;
  /** Destinations for which a take is under way: one at a time is enough, each that finds something starts the next. */
  const taking = new Set<DestinationId>();
  /** Destinations that were poked while a take was under way: what it didn't find may have come meanwhile. */
  const missed = new Set<DestinationId>();
  const running = new Set<Promise<void>>();
  let stopped = false;

  const take = async (destination: DestinationId): Promise<BacklogDelivery | undefined> => {
    const at = now();
    const reply = await backlog.take(destination, at, at + leaseMs);
    return reply.kind === 'taken' ? { id: reply.id, destination, isProbe: reply.isProbe } : undefined;
  };

  const serve = async (destination: DestinationId, pass: Pass): Promise<void> => {
    let end: SendEnd = 'unsent';
    let delivery: BacklogDelivery | undefined;
    try {
      taking.add(destination);
      missed.delete(destination);
      delivery = await take(destination).finally(() => taking.delete(destination));
      if (!delivery) return;
      if (!delivery.isProbe) poke(destination);
      end = await attempt(delivery);
    } catch (error) {
      // Our own fault: the lease ends and the delivery is taken again, no attempt spent.
      metrics.ownFault('backlog');
      logger.error('backlog.own_fault', { destination, deliveryId: delivery?.id }, error);
      delivery = undefined;
    } finally {
      gate.leave(pass, end);
      // After what else is ready: a long backlog must not keep the line's few deliveries waiting.
      if (missed.delete(destination) || delivery) setImmediate(poke, destination);
    }
  };

  const poke = (destination: DestinationId): void => {
    if (stopped) return;
    if (taking.has(destination)) {
      missed.add(destination);
      return;
    }
    const pass = gate.enter(destination);
    if (!pass) return;
    const done = serve(destination, pass).finally(() => running.delete(done));
    running.add(done);
  };

  return {
    poke,
    async stop() {
      stopped = true;
      await Promise.all(running);
    },
  };
}
