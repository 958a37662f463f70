import { deliveryIdOf, ListenerLimitReachedError, UnavailableError, type WorkspaceId } from '@herald/core';
import { oneAtATime } from '@herald/runtime/async/one-at-a-time';
import type { Logger } from '@herald/runtime/log/logger';
import type { Follow } from '@herald/store/listening/listen-channel';
import { LISTENER_LIMIT, type ListenerStore } from '@herald/store/listening/listener-store';
import { randomToken } from '@herald/store/redis/random-token';
import type { Response } from 'express';
import type { ListenMetrics } from '../reports/create-listen-metrics.ts';
import { openEventStream, type EventStream } from './event-stream.ts';

/** How often a stream shows that it lives, keeps its place and asks whether its key is still valid, in ms. */
const BEAT_MS = 10_000;

export type ListenersDeps = {
  readonly store: ListenerStore;
  readonly follow: Follow;
  readonly metrics: ListenMetrics;
  readonly logger: Logger;
  readonly now: () => number;
  readonly beatMs?: number;
};

export type ListenRequest = {
  readonly workspaceId: WorkspaceId;
  /** Empty: every event. */
  readonly events: readonly string[];
  /** Whether the key of the request is still valid. */
  readonly isAllowed: () => Promise<boolean>;
};

/** The streams of this process. They show what happens while they are open, at most once, and keep nothing. */
export function createListeners({ store, follow, metrics, logger, now, beatMs = BEAT_MS }: ListenersDeps) {
  const streams = new Set<EventStream>();
  const underWay = new Set<Promise<void>>();
  let isStopping = false;

  const openStream = (res: Response, { events }: ListenRequest, listenerId: string): EventStream => {
    const stream = openEventStream(res);
    stream.send('listening', JSON.stringify({ listenerId, events }));
    streams.add(stream);
    metrics.showOpen(streams.size);
    // The stop may have come while the place was taken.
    if (isStopping) stream.end('stopping');
    return stream;
  };
  const startBeat = (stream: EventStream, { workspaceId, isAllowed }: ListenRequest, listenerId: string) => {
    const beat = oneAtATime(async () => {
      stream.beat();
      try {
        if (!(await isAllowed())) stream.end('key_ended');
        // It may have ended meanwhile, and given its place back.
        else if (streams.has(stream) && (await store.hold(workspaceId, listenerId, now())) === 'full')
          stream.end('place_taken');
      } catch (error) {
        logger.warn('listen.beat_failed', { workspaceId, listenerId }, error);
      }
    });
    return setInterval(() => void beat(), beatMs);
  };

  const serve = async (request: ListenRequest, res: Response): Promise<void> => {
    const { workspaceId, events } = request;
    if (isStopping) throw new UnavailableError('this process is stopping; connect again');
    const closed = new Promise((resolve) => res.once('close', resolve));
    const listenerId = `lst_${randomToken()}`;
    if ((await store.hold(workspaceId, listenerId, now())) === 'full') {
      throw new ListenerLimitReachedError(LISTENER_LIMIT);
    }
    let stream: EventStream | undefined;
    let timer: NodeJS.Timeout | undefined;
    try {
      const leave = await follow(workspaceId, ({ transitionId, event, body }) => {
        if (!stream || (events.length > 0 && !events.includes(event))) return;
        // Each listener is an endpoint of its own, so that two programs behind two of them don't share ids.
        stream.send(event, body, deliveryIdOf(transitionId, listenerId));
        metrics.sent({});
      });
      try {
        stream = openStream(res, request, listenerId);
        timer = startBeat(stream, request, listenerId);
        logger.info('listen.started', { workspaceId, listenerId });
        await closed;
      } finally {
        await leave();
      }
    } finally {
      clearInterval(timer);
      if (stream) streams.delete(stream);
      metrics.showOpen(streams.size);
      logger.info('listen.ended', { workspaceId, listenerId });
      await store.release(workspaceId, listenerId);
    }
  };

  return {
    /**
     * Answers with a stream, and resolves when it has ended.
     * @throws ListenerLimitReachedError
     */
    listen(request: ListenRequest, res: Response): Promise<void> {
      const served = serve(request, res).finally(() => underWay.delete(served));
      underWay.add(served);
      return served;
    },
    /** Ends every stream, so that its reader connects to another process, and gives back the places. */
    async close(): Promise<void> {
      isStopping = true;
      for (const stream of streams) stream.end('stopping');
      await Promise.allSettled(underWay);
    },
  };
}
export type Listeners = ReturnType<typeof createListeners>;
