import { deliveryIdOf, ListenerLimitReachedError, UnavailableError, type WorkspaceId } from '@herald/core';
import { oneAtATime } from '@herald/runtime/async';
import type { Logger } from '@herald/runtime/log';
import { type Follow, type ListenedEvent, LISTENER_LIMIT, type ListenerStore } from '@herald/store/listening/listeners';
import { randomToken } from '@herald/store/redis/random-token';
import type { Response } from 'express';
import { onceClosed } from '../http/problem.ts';
import type { ListenMetrics } from '../metrics.ts';

/**
 * How often a stream shows that it lives, keeps its place and asks whether its key is still valid, in ms. A revocation is
 * told, and asked about at once; this is for one that could not be told.
 */
const BEAT_MS = 10_000;
/** The longest time that a timer of Node takes, in ms. */
const TIMER_LIMIT_MS = 2 ** 31 - 1;

type ListenersDeps = {
  readonly store: ListenerStore;
  readonly follow: Follow;
  readonly metrics: ListenMetrics;
  readonly logger: Logger;
  readonly now: () => number;
  readonly beatMs?: number;
};

type ListenRequest = {
  readonly workspaceId: WorkspaceId;
  /** Empty: every event. */
  readonly events: readonly string[];
  /** Whether the credential that the request came with is still valid. */
  readonly isAllowed: () => Promise<boolean>;
  /** When that credential expires (epoch ms). Absent: never. */
  readonly expiresAt?: number | undefined;
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
  /** Ends a stream that may not go on. */
  const startWatch = (stream: EventStream, request: ListenRequest, listenerId: string) => {
    const { workspaceId, isAllowed, expiresAt } = request;
    const ask = async (judge: () => Promise<void>) => {
      try {
        await judge();
      } catch (error) {
        logger.warn('listen.beat_failed', { workspaceId, listenerId }, error);
      }
    };
    const beat = oneAtATime(async () => {
      stream.beat();
      await ask(async () => {
        if (!(await isAllowed())) stream.end('key_ended');
        // It may have ended meanwhile, and given its place back.
        else if (streams.has(stream) && (await store.hold(workspaceId, listenerId, now())) === 'full')
          stream.end('place_taken');
      });
    });
    let expiry: NodeJS.Timeout | undefined;
    const endAtExpiry = (at: number) => {
      const leftMs = at - now();
      if (leftMs <= 0) stream.end('key_ended');
      else expiry = setTimeout(endAtExpiry, Math.min(leftMs, TIMER_LIMIT_MS), at);
    };
    if (expiresAt !== undefined) endAtExpiry(expiresAt);
    const beats = setInterval(() => void beat(), beatMs);
    return {
      /** Each call asks anew: an answer that is on its way may be older than the revocation. */
      judgeCredential: () =>
        ask(async () => {
          if (!(await isAllowed())) stream.end('key_ended');
        }),
      stop: () => {
        clearInterval(beats);
        clearTimeout(expiry);
      },
    };
  };

  const serve = async (request: ListenRequest, res: Response): Promise<void> => {
    const { workspaceId, events } = request;
    if (isStopping) throw new UnavailableError('this process is stopping; connect again');
    const { promise: closed, resolve } = Promise.withResolvers<unknown>();
    onceClosed(res, () => {
      resolve(undefined);
    });
    const listenerId = `lst_${randomToken()}`;
    if ((await store.hold(workspaceId, listenerId, now())) === 'full') {
      throw new ListenerLimitReachedError(LISTENER_LIMIT);
    }
    let stream: EventStream | undefined;
    let watch: ReturnType<typeof startWatch> | undefined;
    try {
      const leave = await follow(workspaceId, {
        onEvent({ transitionId, event, body }) {
          if (!stream || (events.length > 0 && !events.includes(event))) return;
          // Each listener is an endpoint of its own, so that two programs behind two of them don't share ids.
          stream.send(event, body, deliveryIdOf(transitionId, listenerId));
          metrics.sent({});
        },
        onRevoked: () => void watch?.judgeCredential(),
      });
      try {
        stream = openStream(res, request, listenerId);
        watch = startWatch(stream, request, listenerId);
        logger.info('listen.started', { workspaceId, listenerId });
        // Of a revocation before `follow` nobody told it.
        await watch.judgeCredential();
        await closed;
      } finally {
        await leave();
      }
    } finally {
      watch?.stop();
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

/** Why a stream ends, other than by its reader. */
type EndReason = 'stopping' | 'key_ended' | 'place_taken' | 'too_slow';

const DETAILS: Readonly<Record<EndReason, string>> = {
  stopping: 'this process is stopping; connect again',
  key_ended: 'the API key has expired or was revoked',
  place_taken: 'Redis was away, and others took the place of this listener meanwhile; connect again',
  too_slow: 'this reader took its events too slowly; connect again, and read faster',
};

/** What may wait for a slow reader, in bytes. The system keeps some more. */
const UNREAD_LIMIT_BYTES = 1024 * 1024;
/** How long a reader has to take the last words, in ms. */
const LAST_WORDS_MS = 5_000;

/** Answers a request with server-sent events (the HTML standard, section 9.2), and keeps the answer open. */
function openEventStream(res: Response, unreadLimitBytes = UNREAD_LIMIT_BYTES) {
  res.set({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }).flushHeaders();
  // What may wait has a limit of its own.
  res.setTimeout(0);
  let isOpen = true;
  const write = (text: string) => {
    if (!isOpen) return;
    res.write(text);
    if (res.writableLength > unreadLimitBytes) end('too_slow');
  };
  /** @param data without line ends */
  const send = (event: string, data: string, id?: string) => {
    write(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`);
  };
  const end = (reason: EndReason) => {
    if (!isOpen) return;
    isOpen = false;
    res.end(`event: end\ndata: ${JSON.stringify({ reason, detail: DETAILS[reason] })}\n\n`);
    const timer = setTimeout(() => res.destroy(), LAST_WORDS_MS);
    res.once('close', () => {
      clearTimeout(timer);
    });
  };
  return {
    send,
    /** Readers ignore it. It keeps proxies from closing a silent connection. */
    beat: () => {
      write(': still here\n\n');
    },
    end,
  };
}
type EventStream = ReturnType<typeof openEventStream>;

type TellListenersDeps = {
  readonly publish: (workspaceId: WorkspaceId, event: ListenedEvent) => Promise<void>;
  readonly metrics: Pick<ListenMetrics, 'publishFailed'>;
  readonly logger: Logger;
};

/** Tells the listeners of a workspace of an event. Nobody waits for it, and it may fail: deliveries go their own way. */
export function createTellListeners({ publish, metrics, logger }: TellListenersDeps) {
  return function tellListeners(workspaceId: WorkspaceId, event: ListenedEvent): void {
    publish(workspaceId, event).catch((error: unknown) => {
      metrics.publishFailed({});
      logger.debug('listen.publish_failed', { workspaceId, transitionId: event.transitionId }, error);
    });
  };
}
