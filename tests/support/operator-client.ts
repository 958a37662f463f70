import type { Herald } from './start-herald.ts';
import type { HttpAnswer, RequestOptions } from './http-request.ts';

export const OPERATOR_ENV = { OPERATOR_USER: 'olga', OPERATOR_PASSWORD: 'correct horse: battery' } as const;

export const BOARD = '/admin/queues';

export function basic(user: string, password: string): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}

export interface BoardJob {
  id: string;
  name: string;
  timestamp: number;
  delay: number;
  attempts: number;
  failedReason: string;
  data: Record<string, unknown>;
}

export interface BoardQueue {
  name: string;
  counts: Record<string, number>;
  isPaused: boolean;
  readOnlyMode: boolean;
  hasWorkers: boolean | null;
  type: string;
  statuses: string[];
  jobs: BoardJob[];
}

/** The board, as the program of its page reads it. */
export interface OperatorClient {
  request(method: string, path: string, options?: RequestOptions): Promise<HttpAnswer>;
  /** What the board's own page may send. */
  act(method: string, path: string, options?: RequestOptions): Promise<HttpAnswer>;
  /** All queues, with the jobs of one of them. */
  readQueues(active?: string, status?: string, page?: number): Promise<BoardQueue[]>;
  readQueue(name: string, status?: string): Promise<BoardQueue>;
  readJob(queue: string, id: string): Promise<{ job: BoardJob; status: string }>;
  readLogs(queue: string, id: string): Promise<string[]>;
}

export function createOperatorClient(herald: Pick<Herald, 'request'>): OperatorClient {
  const credentials = basic(OPERATOR_ENV.OPERATOR_USER, OPERATOR_ENV.OPERATOR_PASSWORD);
  const request = (method: string, path: string, { headers, ...options }: RequestOptions = {}) =>
    herald.request(method, BOARD + path, { ...options, headers: { ...credentials, ...headers } });
  const read = async (path: string) => {
    const { status, body, text } = await request('GET', path);
    if (status !== 200) throw new Error(`the board answers ${status} to ${path}: ${text}`);
    return body;
  };
  const readQueues = async (active = '', status = '', page = 1) => {
    const query = new URLSearchParams({ activeQueue: active, status, page: String(page), jobsPerPage: '20' });
    return ((await read(`/api/queues?${query.toString()}`)) as { queues: BoardQueue[] }).queues;
  };
  return {
    request,
    act: (method, path, { headers, ...options } = {}) =>
      request(method, path, { ...options, headers: { 'sec-fetch-site': 'same-origin', ...headers } }),
    readQueues,
    async readQueue(name, status) {
      const queue = (await readQueues(name, status)).find((each) => each.name === name);
      if (!queue) throw new Error(`the board has no queue ${name}`);
      return queue;
    },
    readJob: async (queue, id) => (await read(`/api/queues/${queue}/${id}`)) as { job: BoardJob; status: string },
    readLogs: async (queue, id) => (await read(`/api/queues/${queue}/${id}/logs`)) as string[],
  };
}
