import {
  DomainError,
  InvalidTransitionError,
  NotFoundError,
  type ListPlace,
  type TaskId,
  type WorkspaceId,
} from '@herald/core';
import type { Logger } from '@herald/runtime/log';
import type { ApiKeyStore } from '@herald/store/access/api-key-store';
import type { BindingStore } from '@herald/store/access/binding-store';
import type { ErasableHistory } from '@herald/store/tasks/payload-eraser';
import type { PortalLinkStore } from '@herald/store/access/portal-link-store';
import type { TaskStore } from '@herald/store/tasks/task-store';
import type { AcceptTransitions } from '../tasks/accept-transitions.ts';
import { logUntold } from '../portal-links/manage-portal-links.ts';
import type { ManageReceivers } from '../receivers/manage-receivers.ts';
import type { ErasePayloads } from '../tasks/task-operations.ts';
import type { WorkspaceErasure } from './platform-view.ts';

export type EraseWorkspaceDeps = {
  readonly apiKeys: Pick<ApiKeyStore, 'listOf' | 'revoke' | 'dropEnded'>;
  readonly portalLinks: Pick<PortalLinkStore, 'list' | 'revoke'>;
  readonly bindings: Pick<BindingStore, 'list' | 'unbind'>;
  readonly receivers: Pick<ManageReceivers, 'list' | 'remove'>;
  readonly tasks: Pick<TaskStore, 'listUnerased'>;
  readonly acceptTransitions: AcceptTransitions;
  readonly erasePayloads: ErasePayloads;
  /** Absent: nothing leaves Redis but what is over. */
  readonly history?: Pick<ErasableHistory, 'listUnerased'> | undefined;
  readonly logger: Logger;
};

/** How long one request works before it is answered, in ms: less than a proxy on the way may wait. */
const WORKS_FOR_MS = 10_000;
/** Tasks that are erased at the same time. */
const AT_ONCE = 10;
/** Tasks that are looked at together. */
const LOOK = 200;

/** What is gone already is what was wanted: somebody else removed it, or it has expired with all that it held. */
function passOverGone(error: unknown): void {
  if (!(error instanceof NotFoundError)) throw error;
}

/**
 * Ends a workspace and erases what it held, as far as one request gets. First its keys and links, so that nothing comes
 * from it any more; then its receivers and bindings, so that nothing goes to it; then each Task, canceled if it is open.
 * Each step is complete in itself and says what is left, so another request goes on where this one was, also after a
 * crash. Whatever was listed may end before its turn comes, by another such request, its customer, its executor or its
 * time, so a step that comes too late has nothing to do.
 */
export function createEraseWorkspace(deps: EraseWorkspaceDeps) {
  const { apiKeys, portalLinks, bindings, receivers, tasks, acceptTransitions, erasePayloads, history, logger } = deps;

  const erase = async (workspaceId: WorkspaceId, taskId: TaskId, isOpen: boolean): Promise<void> => {
    if (isOpen) {
      const report = { type: 'canceled' } as const;
      const [result] = await acceptTransitions([{ taskId, report, workspaceId, isErasure: true }]);
      // Refused, it was closed meanwhile: an open Task can always be canceled here, however full its workspace or Redis is.
      if (result instanceof DomainError && !(result instanceof InvalidTransitionError)) passOverGone(result);
    }
    await erasePayloads(workspaceId, taskId).catch(passOverGone);
  };

  return async function eraseWorkspace(workspaceId: WorkspaceId, signal: AbortSignal): Promise<WorkspaceErasure> {
    const endsAt = performance.now() + WORKS_FOR_MS;
    let count = 0;
    const isOver = () => signal.aborted || performance.now() > endsAt;
    /** False when the time was over before all were erased. */
    const eraseAll = async (list: readonly { readonly id: TaskId; readonly isOpen: boolean }[]): Promise<boolean> => {
      for (let start = 0; start < list.length; start += AT_ONCE) {
        if (isOver()) return false;
        const some = list.slice(start, start + AT_ONCE);
        await Promise.all(some.map(({ id, isOpen }) => erase(workspaceId, id, isOpen)));
        count += some.length;
      }
      return true;
    };
    const answer = (erased: boolean): WorkspaceErasure => ({ workspaceId, erased, tasks: count });

    for (const { id } of await apiKeys.listOf(workspaceId))
      logUntold(logger, (await apiKeys.revoke(id)) ?? {}, { workspaceId, keyId: id });
    await apiKeys.dropEnded(workspaceId);
    for (const { id } of await portalLinks.list(workspaceId))
      logUntold(logger, (await portalLinks.revoke(workspaceId, id)) ?? {}, { workspaceId, portalLinkId: id });
    for (const { receiver } of await receivers.list(workspaceId))
      await receivers.remove(workspaceId, receiver.id).catch(passOverGone);
    for (const { executionWorkspaceId } of await bindings.list(workspaceId))
      await bindings.unbind(workspaceId, executionWorkspaceId);

    for (let place: ListPlace | undefined, isLast = false; !isLast;) {
      const page = await tasks.listUnerased(workspaceId, LOOK, place);
      if (!(await eraseAll(page.tasks))) return answer(false);
      [place, isLast] = [page.next, page.next === undefined];
    }
    while (history) {
      const past = await history.listUnerased(workspaceId, LOOK);
      if (past.length === 0) break;
      if (!(await eraseAll(past.map((id) => ({ id, isOpen: false }))))) return answer(false);
    }
    return answer(true);
  };
}
export type EraseWorkspace = ReturnType<typeof createEraseWorkspace>;
