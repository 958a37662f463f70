import {
  newReceiverId,
  newSigningSecret,
  NotFoundError,
  RECEIVER_LIMIT,
  ReceiverLimitReachedError,
  ValidationError,
  type Endpoint,
  type EndpointId,
  type PatchReceiver,
  type RegisterReceiver,
  type WorkspaceId,
} from '@herald/core';
import type { EndpointRecord, ReceiverStore, SecretBox } from '@herald/infra';

/** Why an endpoint's url can't be a destination, as far as that shows without a look-up. */
export type FindUrlProblem = (url: string) => string | undefined;

export type ManageReceiversDeps = {
  readonly receivers: ReceiverStore;
  readonly sealSecret: SecretBox['seal'];
  readonly findUrlProblem: FindUrlProblem;
  readonly now: () => number;
};

/** @throws ValidationError when the url can't be a destination */
export function refuseForbiddenUrl(findUrlProblem: FindUrlProblem, url: string, path: string): void {
  const problem = findUrlProblem(url);
  if (problem !== undefined) throw new ValidationError([{ path, message: problem }]);
}

export function createManageReceivers({ receivers, sealSecret, findUrlProblem, now }: ManageReceiversDeps) {
  const find = async (workspaceId: WorkspaceId, id: EndpointId): Promise<EndpointRecord> => {
    const receiver = await receivers.find(workspaceId, id);
    if (!receiver) throw new NotFoundError('receiver', id);
    return receiver;
  };
  return {
    find,
    list: receivers.list,
    /** The receiver, and its signing secret in clear, this once. */
    async register(workspaceId: WorkspaceId, { url, events, description, enabled }: RegisterReceiver) {
      refuseForbiddenUrl(findUrlProblem, url, 'url');
      const createdAt = now();
      const receiver: Endpoint = {
        ...{ id: newReceiverId(createdAt), workspaceId, url, events, description, enabled, createdAt },
        ...(!enabled && { disabledAt: createdAt, disabledReason: 'by_request' }),
      };
      const secret = newSigningSecret();
      const reply = await receivers.register(receiver, sealSecret(secret, receiver.id));
      if (reply === 'full') throw new ReceiverLimitReachedError(RECEIVER_LIMIT);
      return { receiver: { ...receiver, health: { consecutiveFailures: 0 } }, secret };
    },
    async patch(workspaceId: WorkspaceId, id: EndpointId, patch: PatchReceiver): Promise<EndpointRecord> {
      if (patch.url !== undefined) refuseForbiddenUrl(findUrlProblem, patch.url, 'url');
      if (!(await receivers.patch(workspaceId, id, patch, now()))) throw new NotFoundError('receiver', id);
      return await find(workspaceId, id);
    },
    async remove(workspaceId: WorkspaceId, id: EndpointId): Promise<void> {
      if (!(await receivers.remove(workspaceId, id))) throw new NotFoundError('receiver', id);
    },
  };
}
export type ManageReceivers = ReturnType<typeof createManageReceivers>;
