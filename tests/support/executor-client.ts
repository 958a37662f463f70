import { bodyOf, type HttpAnswer } from './http-request.ts';
import type { Report } from './reports.ts';
import type { Accepted, Request } from './workspace-client.ts';

export type BatchResult = Accepted | { error: { code: string } };

/** What an executor does, for the Tasks of every workspace. */
export interface ExecutorClient {
  readonly key: string;
  request: Request;
  /** Reports transitions one after the other, each of which must be accepted; returns the last answer. */
  report(taskId: string, ...reports: readonly [Report, ...Report[]]): Promise<Accepted>;
  /** Reports one transition, whatever comes of it. */
  tryReport(taskId: string, report: Report): Promise<HttpAnswer>;
  reportBatch(transitions: readonly unknown[]): Promise<BatchResult[]>;
  readTask(taskId: string): Promise<Record<string, unknown>>;
}

export function createExecutorClient(key: string, send: Request): ExecutorClient {
  const request: Request = (method, path, options) => send(method, path, { key, ...options });
  const tryReport = (taskId: string, report: Report) =>
    request('POST', `/api/internal/tasks/${taskId}/transitions`, { body: report });
  return {
    key,
    request,
    tryReport,
    async report(taskId, first, ...rest) {
      let accepted = bodyOf(await tryReport(taskId, first), 200);
      for (const report of rest) accepted = bodyOf(await tryReport(taskId, report), 200);
      return accepted as Accepted;
    },
    async reportBatch(transitions) {
      const answer = await request('POST', '/api/internal/transitions', { body: { transitions } });
      return (bodyOf(answer, 200) as { results: BatchResult[] }).results;
    },
    readTask: async (taskId) =>
      bodyOf(await request('GET', `/api/internal/tasks/${taskId}`), 200) as Record<string, unknown>,
  };
}
