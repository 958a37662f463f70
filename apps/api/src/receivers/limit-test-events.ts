import type { WorkspaceId } from '@herald/core';
import type { createSendTestEvent } from '@herald/store/test-events/send-test-event';
import { HttpFault } from '../http/problem.ts';

export type SendTestEvent = ReturnType<typeof createSendTestEvent>;

/**
 * How many test events one workspace may have under way in this process. A worker has 50 slots for all test events.
 * A workspace whose receivers never answer must not take them all.
 */
const AT_ONCE = 5;

/** @throws HttpFault `rate_limited` when the workspace has too many under way */
export function limitTestEvents(send: SendTestEvent): SendTestEvent {
  const running = new Map<WorkspaceId, number>();
  return async (workspaceId, id, event) => {
    const count = running.get(workspaceId) ?? 0;
    if (count >= AT_ONCE) {
      const detail = `this workspace has ${AT_ONCE} test events under way; wait for their outcome`;
      throw new HttpFault('rate_limited', detail, { 'retry-after': '1' });
    }
    running.set(workspaceId, count + 1);
    try {
      return await send(workspaceId, id, event);
    } finally {
      const rest = (running.get(workspaceId) ?? 0) - 1;
      if (rest > 0) running.set(workspaceId, rest);
      else running.delete(workspaceId);
    }
  };
}
