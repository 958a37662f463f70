import type { WorkspaceId } from '@herald/core';
import type { Logger } from '@herald/runtime/log/logger';
import type { ListenedEvent } from '@herald/store/listening/listen-channel';
import type { ListenMetrics } from '../reports/create-listen-metrics.ts';

export type TellListenersDeps = {
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
