import { callbackIdOf } from '@herald/core';
import type { Receiver } from '@herald/test-kit';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { bodyOf } from '../../support/http-request.ts';
import { actionRequired, DONE, START } from '../../support/reports.ts';
import type { Herald } from '../../support/start-herald.ts';
import type { WorkspaceClient } from '../../support/workspace-client.ts';

/** A workspace that has one of everything, all of it settled. */
export interface Inhabited {
  workspace: WorkspaceClient;
  receiver: Receiver;
  callback: Receiver;
  ids: {
    workspace: string;
    receiver: string;
    /** A Task that is done, with deliveries to the receiver and to its callback. */
    task: string;
    /** A Task that waits for the resolution of `approval`. */
    waitingTask: string;
    callback: string;
    approval: string;
    transition: string;
    receiverDelivery: string;
    callbackDelivery: string;
    replay: string;
    portalLink: string;
    key: string;
    executionWorkspace: string;
  };
}

/** Every kind of id that a workspace has. */
export const ID_KINDS = [
  ...(['receiver', 'task', 'waitingTask', 'callback', 'approval', 'transition'] as const),
  ...(['receiverDelivery', 'callbackDelivery', 'replay', 'portalLink', 'key'] as const),
];

export async function inhabit(herald: Herald, approval: string): Promise<Inhabited> {
  const workspace = await herald.createWorkspace();
  const [receiver, callback] = [await herald.startReceiver(), await herald.startReceiver()];
  const { id: receiverId } = await workspace.registerReceiver({ url: receiver.url });
  const deliveries = createDeliveryClient(workspace);
  const emitted = await deliveries.emit({ callback: { url: callback.url } });
  const { id: waitingTask } = await workspace.createTask({ callback: { url: callback.url } });
  const requests = [{ id: approval, primary: true, title: 'Pay' }];
  await herald.executor.report(waitingTask, START, actionRequired(1, { approvalRequests: requests }));
  const finished = await workspace.createTask();
  await herald.executor.report(finished.id, START, { ...DONE, result: 'secret of the workspace' });
  await deliveries.waitForStatus(emitted.to({ id: receiverId }), 'delivered');
  await deliveries.waitForStatus(emitted.toCallback, 'delivered');
  const body = { since: '2020-01-01T00:00:00Z' };
  const replayed = await workspace.request('POST', `/api/public/webhooks/${receiverId}/replay`, { body });
  const link = await workspace.request('POST', '/api/public/portal-links', { body: { expiresInSeconds: 86_400 } });
  const executionWorkspace = `${workspace.id}-runs`;
  const made = await herald.askAsPlatform('POST', `${workspace.id}/keys`, 201, {});
  const bound = { executionWorkspaceId: executionWorkspace };
  await herald.askAsPlatform('POST', `${workspace.id}/execution-workspaces`, 200, bound);
  return {
    workspace,
    receiver,
    callback,
    ids: {
      workspace: workspace.id,
      receiver: receiverId,
      task: emitted.taskId,
      waitingTask,
      callback: callbackIdOf(emitted.taskId),
      approval,
      transition: emitted.transitionId,
      receiverDelivery: emitted.to({ id: receiverId }),
      callbackDelivery: emitted.toCallback,
      replay: (bodyOf(replayed, 202) as { id: string }).id,
      key: (made as { id: string }).id,
      executionWorkspace,
      portalLink: (bodyOf(link, 201) as { id: string }).id,
    },
  };
}
