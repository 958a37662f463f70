import { createTimeline, type Timeline } from './timeline.ts';

/** A receiver or a callback, and its history as the run knows it. */
export type KnownEndpoint = {
  readonly id: string;
  readonly workspaceId: string;
  /** Only for a callback: it gets the events of this Task. */
  readonly taskId?: string;
  /** It gets the events of each Task in order. */
  readonly isOrdered?: boolean;
  /** Path of its url. It never changes and identifies the endpoint. */
  readonly path: string;
  /** Never changes. */
  readonly rateLimit?: { readonly perSecond: number };
  readonly exists: Timeline<boolean>;
  readonly enabled: Timeline<boolean>;
  /** Empty: every event. */
  readonly events: Timeline<readonly string[]>;
  /** Index of the host of its url. */
  readonly host: Timeline<number>;
  /** Undefined: a secret that was never shown. */
  readonly secret: Timeline<string | undefined>;
};

export type FirstState = Pick<KnownEndpoint, 'id' | 'workspaceId' | 'taskId' | 'isOrdered' | 'path' | 'rateLimit'> & {
  readonly events: readonly string[];
  readonly host: number;
  readonly secret: string | undefined;
};

/** A new endpoint. Without `made`, it exists from the start. */
export function createKnownEndpoint(
  { events, host, secret, ...rest }: FirstState,
  made?: { readonly from: number; readonly by: number; readonly until: number },
): KnownEndpoint {
  const exists = createTimeline(made === undefined);
  if (made) exists.change({ value: true, ...made });
  return {
    ...rest,
    exists,
    enabled: createTimeline(true),
    events: createTimeline(events),
    host: createTimeline(host),
    secret: createTimeline(secret),
  };
}
