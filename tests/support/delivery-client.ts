import { callbackIdOf, deliveryIdOf } from '@herald/core';
import { waitFor } from '@herald/test-kit';
import { bodyOf, type HttpAnswer } from './http-request.ts';
import type { WorkspaceClient } from './workspace-client.ts';

export interface AttemptView {
  at: string;
  durationMs: number;
  status?: number;
  error?: string;
  headers?: Record<string, string>;
  answer?: string;
  address?: string;
  keyIds?: string[];
  answerDigest?: string;
}

/** What is sent, as the API shows it. */
export interface RequestView {
  method: string;
  url: string | null;
  urlChangedAt?: string;
  headers: Record<string, string>;
  omittedHeaders: string[];
  body: string | null;
  bodyGone?: string;
}

export interface DeliveryListItem {
  id: string;
  event: string;
  sampleOf?: string;
  status: string;
  receiverId: string | null;
  callbackId: string | null;
  endpointId: string;
  transitionId: string;
  taskId: string | null;
  createdAt: string;
  tries: number;
  nextAttemptAt: string | null;
  waitingFor?: string;
  settledAt: string | null;
  lastAttempt: { at: string; durationMs: number; status?: number; error?: string } | null;
  reason?: string;
  owedAttempts?: number;
}

export interface DeliveryView extends DeliveryListItem {
  request: RequestView;
  attempts: AttemptView[];
}

export interface DeliveryPage {
  deliveries: DeliveryListItem[];
  nextCursor: string | null;
}

export interface ReceiverView {
  id: string;
  url: string;
  enabled: boolean;
  ordering: string;
  orderingTimeout: string;
  disabledAt?: string;
  disabledReason?: string;
  secretOverlapEndsAt?: string;
  health: {
    state: string;
    since: string;
    consecutiveFailures: number;
    pausedUntil?: string;
    nextProbeAt?: string;
    backlog: number;
    lastSuccessAt: string | null;
  };
}

/** A transition, and the deliveries that it leads to. */
export interface Emitted {
  taskId: string;
  transitionId: string;
  /** Id of its delivery to a receiver. */
  to(receiver: { id: string }): string;
  /** Id of its delivery to its Task's callback. */
  toCallback: string;
}

/** What a customer does with the deliveries of one workspace. */
export interface DeliveryClient {
  /** A new Task that is done at once: one transition. */
  emit(task?: object): Promise<Emitted>;
  read(id: string): Promise<DeliveryView>;
  /** The delivery, as soon as it is like this. */
  waitUntil(id: string, holds: (delivery: DeliveryView) => boolean, deadlineMs?: number): Promise<DeliveryView>;
  waitForStatus(id: string, status: string, deadlineMs?: number): Promise<DeliveryView>;
  waitForAttempts(id: string, count: number, deadlineMs?: number): Promise<DeliveryView>;
  list(receiver: { id: string }, query?: Readonly<Record<string, string>>): Promise<DeliveryPage>;
  /** Those of the whole workspace. */
  listAll(query?: Readonly<Record<string, string>>): Promise<DeliveryPage>;
  listByTask(taskId: string, query?: Readonly<Record<string, string>>): Promise<DeliveryPage>;
  tryRedeliver(id: string): Promise<HttpAnswer>;
  redeliver(id: string): Promise<DeliveryListItem>;
  readReceiver(receiver: { id: string }): Promise<ReceiverView>;
  waitForReceiver(receiver: { id: string }, holds: (view: ReceiverView) => boolean): Promise<ReceiverView>;
  patchReceiver(receiver: { id: string }, patch: object): Promise<ReceiverView>;
}

export function createDeliveryClient(workspace: WorkspaceClient): DeliveryClient {
  const { request } = workspace;
  const get = async (path: string) => bodyOf(await request('GET', path), 200);
  const withQuery = (path: string, query: Readonly<Record<string, string>>) =>
    `${path}?${new URLSearchParams(query).toString()}`;
  const read = async (id: string) => (await get(`/api/public/deliveries/${id}`)) as DeliveryView;
  const readReceiver = async ({ id }: { id: string }) => (await get(`/api/public/webhooks/${id}`)) as ReceiverView;
  const waitUntil: DeliveryClient['waitUntil'] = (id, holds, deadlineMs = 10_000) =>
    waitFor(`delivery ${id}`, () => read(id), { until: holds, deadlineMs });
  return {
    async emit(body) {
      const { id: taskId } = await workspace.createTask(body);
      const { transitionId } = await workspace.closeTask(taskId);
      return {
        taskId,
        transitionId,
        to: (receiver) => deliveryIdOf(transitionId, receiver.id),
        toCallback: deliveryIdOf(transitionId, callbackIdOf(taskId)),
      };
    },
    read,
    waitUntil,
    waitForStatus: (id, status, deadlineMs) => waitUntil(id, (delivery) => delivery.status === status, deadlineMs),
    waitForAttempts: (id, count, deadlineMs) => waitUntil(id, ({ attempts }) => attempts.length >= count, deadlineMs),
    list: async ({ id }, query = {}) =>
      (await get(withQuery(`/api/public/webhooks/${id}/deliveries`, query))) as DeliveryPage,
    listAll: async (query = {}) => (await get(withQuery('/api/public/deliveries', query))) as DeliveryPage,
    listByTask: async (taskId, query = {}) =>
      (await get(withQuery(`/tasks/${taskId}/deliveries`, query))) as DeliveryPage,
    tryRedeliver: (id) => request('POST', `/api/public/deliveries/${id}/redeliver`),
    redeliver: async (id) =>
      bodyOf(await request('POST', `/api/public/deliveries/${id}/redeliver`), 202) as DeliveryListItem,
    readReceiver,
    waitForReceiver: (receiver, holds) =>
      waitFor(`receiver ${receiver.id}`, () => readReceiver(receiver), { until: holds }),
    patchReceiver: async ({ id }, patch) =>
      bodyOf(await request('PATCH', `/api/public/webhooks/${id}`, { body: patch }), 200) as ReceiverView,
  };
}
