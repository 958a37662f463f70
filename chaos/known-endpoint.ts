import { createTimeline, type Timeline } from './timeline.ts';

/** A receiver or a callback, and all that the run knows of what it was when. */
export type KnownEndpoint = {
  readonly id: string;
  readonly workspaceId: string;
  /** A callback's: it is told of this Task alone. */
  readonly taskId?: string;
  /** Path of its url, which never changes: what arrives there is its own. */
  readonly path: string;
  readonly exists: Timeline<boolean>;
  readonly enabled: Timeline<boolean>;
  /** None: every event. */
  readonly events: Timeline<readonly string[]>;
  /** Which of the hosts its url leads to. */
  readonly host: Timeline<number>;
  /** undefined: one that nobody was shown. */
  readonly secret: Timeline<string | undefined>;
};

export type FirstState = Pick<KnownEndpoint, 'id' | 'workspaceId' | 'taskId' | 'path'> & {
  readonly events: readonly string[];
  readonly host: number;
  readonly secret: string | undefined;
};

/** An endpoint as it was made: always there, unless `made` says when it came to be. */
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
