import {
  askedOrderingTimeout,
  changedOrderingTimeout,
  type DisabledBy,
  type Endpoint,
  type EndpointId,
  type EndpointOrdering,
  isCallbackId,
  type LockReceiver,
  newReceiverId,
  newSeed,
  newSigningSecret,
  NotFoundError,
  type PatchReceiver,
  type PauseReceiver,
  RECEIVER_LIMIT,
  ReceiverLimitReachedError,
  type RegisterReceiver,
  type RotateSecret,
  type Seed,
  ValidationError,
  type WorkspaceId,
} from '@herald/core';
import type { DeliveryMetrics } from '@herald/store/deliveries/create-delivery-metrics';
import {
  toRegistered,
  type FindGroups,
  type GroupHealth,
  type ReceiverRecord,
  type ReceiverStore,
} from '@herald/store/endpoints/receiver-store';
import type { SealHeaders, SecretCipher } from '@herald/store/secrets/secret-cipher';
import type { createSendTestEvent } from '@herald/store/test-events/send-test-event';
import { HttpFault } from '../http/problem.ts';

/** Says why nothing may be sent to a url, as far as that shows without a DNS look-up. */
export type FindUrlProblem = (url: string) => string | undefined;

type ManageReceiversDeps = {
  readonly receivers: ReceiverStore;
  readonly findGroups: FindGroups;
  readonly encryptSecret: SecretCipher['encrypt'];
  readonly sealHeaders: SealHeaders;
  readonly findUrlProblem: FindUrlProblem;
  readonly metrics: Pick<DeliveryMetrics, 'endpointDisabled'>;
  readonly now: () => number;
};

/** Says which version a receiver must still have when it is changed; undefined: any. Throws when it has another one. */
type DemandVersion = (found: ReceiverRecord) => string | undefined;

/** A receiver, and the state of its group in the queue. */
export type ReceiverWithHealth = {
  readonly receiver: ReceiverRecord;
  readonly group: GroupHealth;
  /** When that was so, epoch ms. */
  readonly at: number;
  /** The others of the workspace that have its url. Only of one whose url was just set. */
  readonly sameUrl?: readonly EndpointId[];
};

/** @throws ValidationError if nothing may be sent to the url */
export function refuseForbiddenUrl(findUrlProblem: FindUrlProblem, url: string, path: string): void {
  const problem = findUrlProblem(url);
  if (problem !== undefined) throw new ValidationError([{ path, message: problem }]);
}

/**
 * A change without the url that the endpoint has already, without enabling what is enabled, and without the ordering
 * timeout that it has: only a new url, and enabling, forget its failures, and only what changes gives it another version.
 * So what was read can be sent back, by whoever keeps receivers as a file says.
 * @throws ValidationError when the timeout is given by both of its names and is new
 */
export function withoutSame<Patch extends Pick<PatchReceiver, 'url' | 'enabled' | TimeoutName>>(
  { url, enabled, orderingTimeout, orderingTimeoutSeconds, ...patch }: Patch,
  before: Pick<Endpoint, 'url' | 'enabled'> & EndpointOrdering,
) {
  const timeoutMs = changedOrderingTimeout(
    {
      ...(orderingTimeout !== undefined && { orderingTimeout }),
      ...(orderingTimeoutSeconds !== undefined && { orderingTimeoutSeconds }),
    },
    before,
  );
  return {
    ...patch,
    ...(url !== undefined && url !== before.url && { url }),
    ...(enabled !== undefined && !(enabled && before.enabled) && { enabled }),
    ...(timeoutMs !== undefined && { orderingTimeout: timeoutMs }),
  };
}
type TimeoutName = 'orderingTimeout' | 'orderingTimeoutSeconds';

/** What has a value: null asks for none, as leaving it out does. */
type Given<T> = {
  readonly [Name in keyof T as null extends T[Name] ? never : Name]: T[Name];
} & { readonly [Name in keyof T as null extends T[Name] ? Name : never]?: Exclude<T[Name], null> };

function withoutNulls<T extends object>(settings: T): Given<T> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null)) as Given<T>;
}

export function createManageReceivers(deps: ManageReceiversDeps) {
  const { receivers, findGroups, encryptSecret, sealHeaders, findUrlProblem, metrics, now } = deps;
  const withHealth = async (receiver: ReceiverRecord): Promise<ReceiverWithHealth> => {
    const [group] = await findGroups([receiver]);
    return { receiver, group, at: now() };
  };
  const find = async (workspaceId: WorkspaceId, id: EndpointId): Promise<ReceiverRecord> => {
    const receiver = await receivers.find(workspaceId, id);
    if (!receiver) throw new NotFoundError('receiver', id);
    return receiver;
  };
  /** Of one whose url was set: twice the same is allowed, and mostly a mistake. */
  const withSameUrl = async (receiver: ReceiverRecord): Promise<ReceiverWithHealth> => {
    const others = (await receivers.list(receiver.workspaceId)).filter(
      ({ id, url }) => id !== receiver.id && url === receiver.url,
    );
    return { ...(await withHealth(receiver)), sameUrl: others.map(({ id }) => id) };
  };
  return {
    find: async (workspaceId: WorkspaceId, id: EndpointId) => await withHealth(await find(workspaceId, id)),
    list: async (workspaceId: WorkspaceId) => {
      const list = await receivers.list(workspaceId);
      const groups = await findGroups(list);
      const at = now();
      return list.map((receiver, index) => ({ receiver, group: groups[index], at }));
    },
    /** Returns the signing secret in clear, unless an earlier run with this seed registered the receiver. */
    async register(
      workspaceId: WorkspaceId,
      asked: RegisterReceiver,
      by: DisabledBy,
      { at: createdAt, random }: Seed = newSeed(now()),
    ) {
      const { headers, orderingTimeout: _text, orderingTimeoutSeconds: _seconds, ...settings } = asked;
      const orderingTimeoutMs = askedOrderingTimeout(asked);
      refuseForbiddenUrl(findUrlProblem, asked.url, 'url');
      const receiver: Endpoint = {
        ...withoutNulls(settings),
        id: newReceiverId(createdAt, random),
        workspaceId,
        createdAt,
        ...(orderingTimeoutMs !== undefined && { orderingTimeoutMs }),
        ...(!asked.enabled && { disabledAt: createdAt, disabledReason: 'by_request', disabledBy: by }),
      };
      const secret = newSigningSecret();
      const encryptedSecret = encryptSecret(secret, receiver.id);
      const sealed = headers && sealHeaders(headers, receiver.id);
      const reply = await receivers.register(receiver, encryptedSecret, sealed);
      if (reply === 'full') throw new ReceiverLimitReachedError(RECEIVER_LIMIT);
      const found = await receivers.find(workspaceId, receiver.id);
      // It exists with this very secret if the Redis client lost the reply and sent the script again.
      const isShown = reply === 'registered' || found?.encryptedSecret === encryptedSecret;
      // One that was removed since then is answered as it was: it has been registered.
      const registered = found ?? toRegistered(receiver, encryptedSecret, sealed);
      return { receiver: await withSameUrl(registered), ...(isShown && { secret }) };
    },
    /** @throws ValidationError, NotFoundError, ReceiverLockedError or PreconditionFailedError */
    async patch(
      workspaceId: WorkspaceId,
      id: EndpointId,
      { headers, ...patch }: PatchReceiver,
      by: DisabledBy,
      demandVersion: DemandVersion,
    ): Promise<ReceiverWithHealth> {
      if (patch.url !== undefined) refuseForbiddenUrl(findUrlProblem, patch.url, 'url');
      const before = await find(workspaceId, id);
      const isDisabling = patch.enabled === false && before.enabled;
      const change = { ...withoutSame(patch, before), by, ...(headers && { headers: sealHeaders(headers, id) }) };
      if (!(await receivers.patch(workspaceId, id, change, now(), demandVersion(before))))
        throw new NotFoundError('receiver', id);
      if (isDisabling) metrics.endpointDisabled('by_request');
      const changed = await find(workspaceId, id);
      return await (change.url === undefined ? withHealth(changed) : withSameUrl(changed));
    },
    /** Disables it until the platform lifts the lock. One that is locked already gets the new reason. */
    async lock(workspaceId: WorkspaceId, id: EndpointId, { reason }: LockReceiver): Promise<ReceiverWithHealth> {
      const { disabledReason: former } = await find(workspaceId, id);
      if (!(await receivers.lock(workspaceId, id, reason, now()))) throw new NotFoundError('receiver', id);
      if (former !== 'locked') metrics.endpointDisabled('locked');
      return await withHealth(await find(workspaceId, id));
    },
    /** Enables it, whoever disabled it. */
    async unlock(workspaceId: WorkspaceId, id: EndpointId): Promise<ReceiverWithHealth> {
      if (!(await receivers.unlock(workspaceId, id, now()))) throw new NotFoundError('receiver', id);
      return await withHealth(await find(workspaceId, id));
    },
    /** Lets its deliveries wait until `resume`. One that is paused already has been so since then, for the new reason. */
    async pause(workspaceId: WorkspaceId, id: EndpointId, { reason }: PauseReceiver): Promise<ReceiverWithHealth> {
      const { pausedAt } = await find(workspaceId, id);
      if (!(await receivers.pause(workspaceId, id, reason, now(), pausedAt))) throw new NotFoundError('receiver', id);
      return await withHealth(await find(workspaceId, id));
    },
    /** Lets what waits go. It stays enabled or disabled as it is. */
    async resume(workspaceId: WorkspaceId, id: EndpointId): Promise<ReceiverWithHealth> {
      if (!(await receivers.resume(workspaceId, id, now()))) throw new NotFoundError('receiver', id);
      return await withHealth(await find(workspaceId, id));
    },
    /** Ends the overlap of a rotation, if one is running. */
    async endOverlap(workspaceId: WorkspaceId, id: EndpointId): Promise<ReceiverWithHealth> {
      if (!(await receivers.endOverlap(workspaceId, id, now()))) throw new NotFoundError('receiver', id);
      return await withHealth(await find(workspaceId, id));
    },
    /** Returns the new signing secret in clear, and when the old one stops being in force. */
    rotateSecret: async (workspaceId: WorkspaceId, id: EndpointId, { overlapSeconds }: RotateSecret) => {
      const secret = newSigningSecret();
      const at = now();
      const overlapEndsAt = overlapSeconds > 0 ? at + overlapSeconds * 1_000 : undefined;
      const isRotated = await receivers.rotateSecret(workspaceId, id, encryptSecret(secret, id), overlapEndsAt, at);
      if (!isRotated) throw new NotFoundError(isCallbackId(id) ? 'callback' : 'receiver', id);
      return { secret, overlapEndsAt };
    },
    /**
     * A lock is one of the receiver: its owner may leave, and can register its url again.
     * @returns whether it was locked
     */
    async remove(workspaceId: WorkspaceId, id: EndpointId, demandVersion?: DemandVersion): Promise<boolean> {
      const found = await receivers.find(workspaceId, id);
      const version = found && demandVersion?.(found);
      // Asked also of one that is gone: the removal waits for replicas then, too.
      if (!(await receivers.remove(workspaceId, id, now(), version))) throw new NotFoundError('receiver', id);
      return found?.disabledReason === 'locked';
    },
  };
}
export type ManageReceivers = ReturnType<typeof createManageReceivers>;

type SendTestEvent = ReturnType<typeof createSendTestEvent>;

/**
 * How many test events one workspace may have under way in this process, and its operators besides. A worker has 50
 * slots for all test events. A workspace whose receivers never answer must not take them all.
 */
const AT_ONCE = 5;

export type SendLimitedTestEvent = ReturnType<typeof limitTestEvents>;

/** Of those that share a budget of requests, as `budgetOf` names it. */
export function limitTestEvents(send: SendTestEvent) {
  const running = new Map<string, number>();
  /** @throws HttpFault `rate_limited` when too many of the budget are under way */
  return async (budget: string, ...[workspaceId, id, event]: Parameters<SendTestEvent>) => {
    const count = running.get(budget) ?? 0;
    if (count >= AT_ONCE) {
      const detail = `this workspace has ${AT_ONCE} test events under way; wait for their outcome`;
      throw new HttpFault('rate_limited', detail, { 'retry-after': '1' });
    }
    running.set(budget, count + 1);
    try {
      return await send(workspaceId, id, event);
    } finally {
      const rest = (running.get(budget) ?? 0) - 1;
      if (rest > 0) running.set(budget, rest);
      else running.delete(budget);
    }
  };
}
