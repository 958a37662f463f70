import { bodyOf, type HttpAnswer, type RequestOptions } from './http-request.ts';

export type Request = (method: string, path: string, options?: RequestOptions) => Promise<HttpAnswer>;

export interface RegisteredReceiver {
  id: string;
  url: string;
  events: string[];
  enabled: boolean;
  secret: string;
}

export interface ReceiverList {
  webhooks: { id: string; url: string }[];
  events: string[];
}

export interface CreatedTask {
  id: string;
  status: string;
  callback?: { url: string; events: string[]; enabled: boolean; secret: string };
}

export interface Accepted {
  transitionId: string;
  taskId: string;
  status: string;
  duplicate: boolean;
  differs?: true;
}

/** What a customer does, with the key of one workspace. */
export interface WorkspaceClient {
  readonly id: string;
  readonly key: string;
  request: Request;
  registerReceiver(body: object): Promise<RegisteredReceiver>;
  listReceivers(): Promise<ReceiverList>;
  /** Without an event: a `webhook.test`. */
  sendTest(receiverId: string, event?: string): Promise<HttpAnswer>;
  createTask(body?: object): Promise<CreatedTask>;
  readTask(id: string): Promise<Record<string, unknown>>;
  /** The answer, whatever it is. */
  patchCallback(taskId: string, patch: object): Promise<HttpAnswer>;
  cancelTask(id: string): Promise<Accepted>;
  /** The legacy close path. */
  closeTask(id: string, status?: 'done' | 'canceled'): Promise<Accepted>;
  resolve(taskId: string, approvalId: string, body: object): Promise<HttpAnswer>;
}

export function createWorkspaceClient(id: string, key: string, send: Request): WorkspaceClient {
  const request: Request = (method, path, options) => send(method, path, { key, ...options });
  return {
    id,
    key,
    request,
    registerReceiver: async (body) =>
      bodyOf(await request('POST', '/api/public/webhooks', { body }), 201) as RegisteredReceiver,
    listReceivers: async () => bodyOf(await request('GET', '/api/public/webhooks'), 200) as ReceiverList,
    sendTest: (receiverId, event) =>
      request('POST', `/api/public/webhooks/${receiverId}/test`, { ...(event !== undefined && { body: { event } }) }),
    createTask: async (body = {}) => bodyOf(await request('POST', '/tasks', { body }), 201) as CreatedTask,
    readTask: async (taskId) => bodyOf(await request('GET', `/tasks/${taskId}`), 200) as Record<string, unknown>,
    patchCallback: (taskId, patch) => request('PATCH', `/tasks/${taskId}/callback`, { body: patch }),
    cancelTask: async (taskId) => bodyOf(await request('POST', `/tasks/${taskId}/cancel`), 200) as Accepted,
    closeTask: async (taskId, status = 'done') =>
      bodyOf(await request('POST', `/tasks/${taskId}/close`, { body: { status } }), 200) as Accepted,
    resolve: (taskId, approvalId, body) =>
      request('POST', `/tasks/${taskId}/approvals/${approvalId}/resolve`, { body }),
  };
}
