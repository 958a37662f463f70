import type { DeliveryId, DestinationId } from '@herald/core';
import type { BacklogStore, LoadReply, Logger, UpkeepMetrics } from '@herald/infra';
import type { DestinationGate, Pass, SendEnd } from './destination-gate.ts';

export type BacklogDelivery = {
  readonly id: DeliveryId;
  readonly destination: DestinationId;
  readonly isProbe: boolean;
  /** As it was when it was taken; undefined when it could not be read. */
  readonly loaded: LoadReply | undefined;
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

/** Deliveries that one take brings at most: Redis does nothing else meanwhile. */
const MOST_TAKEN = 10;

/**
 * Serves backlogs outside BullMQ: takes deliveries when their destination has room, attempts them, and takes the next ones
 * when one is settled. Nothing polls: a settled send, freed room or the sweeper starts it. A worker that dies leaves its
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

  /** How many deliveries a take may bring: twice as many as the last one, when it brought as many as it might. */
  const widths = new Map<DestinationId, number>();

  /** Room for as many as a take may bring. */
  const enterMore = (destination: DestinationId, first: Pass): readonly Pass[] => {
    const passes = [first];
    const width = widths.get(destination) ?? 1;
    while (passes.length < width) {
      const pass = gate.enter(destination);
      if (!pass) break;
      passes.push(pass);
    }
    return passes;
  };

  const take = async (destination: DestinationId, limit: number): Promise<readonly BacklogDelivery[]> => {
    const at = now();
    const reply = await backlog.take(destination, at, at + leaseMs, limit);
    const { deliveries, isProbe } = reply.kind === 'taken' ? reply : { deliveries: [], isProbe: false };
    if (deliveries.length === limit && !isProbe) widths.set(destination, Math.min(2 * limit, MOST_TAKEN));
    else widths.delete(destination);
    return deliveries.map((delivery) => ({ ...delivery, destination, isProbe }));
  };

  const serve = async (destination: DestinationId, first: Pass): Promise<void> => {
    taking.add(destination);
    missed.delete(destination);
    const passes = enterMore(destination, first);
    let taken: readonly BacklogDelivery[] = [];
    try {
      taken = await take(destination, passes.length).finally(() => taking.delete(destination));
    } catch (error) {
      // One pass that is given back after a refusal calls for no take; several would, for as long as takes fail.
      widths.delete(destination);
      reportFault(error, destination);
    }
    const attempts = taken.map((delivery, index) => serveOne(delivery, passes[index] ?? first));
    for (const pass of passes.slice(taken.length)) gate.leave(pass, 'unsent');
    // There may be more. Otherwise the end of an attempt tells when to look again.
    if (taken.length === passes.length && !taken[0]?.isProbe) poke(destination);
    else if (missed.delete(destination)) setImmediate(poke, destination);
    await Promise.all(attempts);
  };

  const serveOne = async (delivery: BacklogDelivery, pass: Pass): Promise<void> => {
    const { destination } = delivery;
    let end: SendEnd = 'unsent';
    let isDone = false;
    try {
      end = await attempt(delivery);
      isDone = true;
    } catch (error) {
      reportFault(error, destination, delivery.id);
    }
    gate.leave(pass, end);
    // After what else is ready: a long backlog must not keep the line's few deliveries waiting.
    if (missed.delete(destination) || isDone) setImmediate(poke, destination);
  };

  /** Our own fault: the lease ends and the delivery is taken again, no attempt spent. */
  const reportFault = (error: unknown, destination: DestinationId, deliveryId?: DeliveryId): void => {
    metrics.ownFault('backlog');
    logger.error('backlog.own_fault', { destination, deliveryId }, error);
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
