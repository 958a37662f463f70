import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Calls an API with one key over a fixed number of connections; calls beyond them wait. */
export type ApiClient = AsyncDisposable & {
  /** The parsed answer. @throws Error when it isn't 2xx */
  readonly call: (method: string, path: string, body?: unknown) => Promise<unknown>;
};

type ApiClientOptions = { readonly port: number; readonly key?: string; readonly connections: number };

export function openApiClient({ port, key, connections }: ApiClientOptions): ApiClient {
  const all = Array.from({ length: connections }, () => openHttpConnection(port));
  const idle = [...all];
  const waiting: ((connection: HttpConnection) => void)[] = [];
  const headers = key === undefined ? '' : `authorization: Bearer ${key}\r\n`;

  const take = async () => idle.pop() ?? (await new Promise<HttpConnection>((resolve) => waiting.push(resolve)));
  const giveBack = (connection: HttpConnection) => {
    const next = waiting.shift();
    if (next) next(connection);
    else idle.push(connection);
  };
  return {
    async call(method, path, body) {
      const connection = await take();
      try {
        const text = body === undefined ? '' : JSON.stringify(body);
        const answer = await connection.request(method, path, headers, text);
        if (answer.status >= 200 && answer.status < 300) return JSON.parse(answer.text) as unknown;
        throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text.slice(0, 500)}`);
      } finally {
        giveBack(connection);
      }
    },
    [Symbol.asyncDispose]: () => {
      for (const connection of all) connection.close();
      return Promise.resolve();
    },
  };
}

/** Runs `work` for every item, at most `width` at a time, in order of start. The first failure ends it. */
export async function forEachOf<T>(items: readonly T[], width: number, work: (item: T) => Promise<unknown>) {
  const rest = items.values();
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const item of rest) await work(item);
    }),
  );
}

type HttpAnswer = { readonly status: number; readonly text: string };

/** One kept HTTP/1.1 connection, one request at a time. */
type HttpConnection = {
  readonly request: (method: string, path: string, headers: string, body: string) => Promise<HttpAnswer>;
  readonly close: () => void;
};

const END_OF_HEAD = Buffer.from('\r\n\r\n');

/**
 * Knows just enough of HTTP for Herald's API: no chunks, no pipelining. It costs a tenth of node:http, which leaves
 * more of the two cores to the measured processes. After the API has closed an idle connection, the next request opens
 * a new one.
 */
function openHttpConnection(port: number): HttpConnection {
  let socket: Socket | undefined;
  let received: Buffer = Buffer.alloc(0);
  let waiting: PromiseWithResolvers<HttpAnswer> | undefined;

  const fail = (error: Error) => {
    waiting?.reject(error);
    waiting = undefined;
    socket = undefined;
  };
  const take = (chunk: Buffer) => {
    // An answer without a request, such as a 408, ends an idle connection.
    if (!waiting) return;
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const answer = readAnswer(received);
    if (!answer) return;
    received = Buffer.alloc(0);
    const taken = waiting;
    waiting = undefined;
    taken.resolve(answer);
  };
  const open = (): Socket => {
    const opened = connect({ port, host: '127.0.0.1', noDelay: true });
    opened.on('error', fail).on('data', take);
    opened.on('close', () => {
      if (socket === opened) fail(new Error(`the connection to port ${port} was closed before its answer`));
    });
    return opened;
  };
  return {
    request(method, path, headers, body) {
      if (waiting) throw new Error('one request at a time');
      waiting = Promise.withResolvers();
      socket ??= open();
      const length = Buffer.byteLength(body);
      const type = length === 0 ? '' : `content-type: application/json\r\ncontent-length: ${length}\r\n`;
      socket.write(`${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${headers}${type}\r\n${body}`);
      return waiting.promise;
    },
    close: () => {
      socket?.removeAllListeners('close').destroy();
    },
  };
}

function readAnswer(received: Buffer): HttpAnswer | undefined {
  const end = received.indexOf(END_OF_HEAD);
  if (end < 0) return undefined;
  const head = received.toString('latin1', 0, end);
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? NaN);
  if (Number.isNaN(length)) throw new Error(`an answer without content-length: ${head}`);
  const start = end + END_OF_HEAD.length;
  if (received.length < start + length) return undefined;
  return { status: Number(head.slice(9, 12)), text: received.toString('utf8', start, start + length) };
}

/** A transition as an executor reports it. */
export type Report = { readonly type: string } & Readonly<Record<string, unknown>>;
export type ReportedItem = { readonly taskId: string; readonly report: Report };

const OUTCOME = {
  summary: 'Read 42 of 120 invoices; three of them name a supplier that is not in the ledger.',
  progress: 0.35,
};

export const START: Report = { type: 'start' };
export const DONE: Report = {
  type: 'done',
  result: { invoices: 120, unknownSuppliers: 3 },
  outcome: OUTCOME,
  usage: { tokens: 12_345 },
};

/** Emits `task.check_in`. */
export function checkIn(id: string | number): Report {
  return { type: 'checkpoint', checkpointId: `c${id}`, canonical: true, material: true, outcome: OUTCOME };
}

/** Emits `task.requires_action`. Its version must rise with each one. */
export function actionRequired(actionVersion: number): Report {
  const approvalRequests = [{ id: 'approval', primary: true, title: 'Pay the invoice?' }];
  return { type: 'action_required', actionVersion, approvalRequests, outcome: OUTCOME };
}

/** Reports one transition. @returns its id */
export async function report(client: ApiClient, { taskId, report }: ReportedItem): Promise<string> {
  const reply = (await client.call('POST', `/api/internal/tasks/${taskId}/transitions`, report)) as Reply;
  refuseBad(reply);
  return reply.transitionId ?? '';
}

/** Reports transitions in batches. Those of one Task must be in different batches, or in order within a batch. */
export async function reportInBatches(
  client: ApiClient,
  items: readonly ReportedItem[],
  { batch, width }: { readonly batch: number; readonly width: number },
): Promise<void> {
  const batches = Array.from({ length: Math.ceil(items.length / batch) }, (_, index) =>
    items.slice(index * batch, (index + 1) * batch),
  );
  await forEachOf(batches, width, async (items) => {
    await reportBatch(client, items);
  });
}

/** Reports transitions together. @returns their ids */
export async function reportBatch(client: ApiClient, items: readonly ReportedItem[]): Promise<string[]> {
  const transitions = items.map(({ taskId, report }) => ({ taskId, ...report }));
  const { results } = (await client.call('POST', '/api/internal/transitions', { transitions })) as {
    results: Reply[];
  };
  if (results.length !== items.length) throw new Error('a batch was not answered item by item');
  results.forEach(refuseBad);
  return results.map(({ transitionId = '' }) => transitionId);
}

type Reply = { readonly transitionId?: string; readonly duplicate?: boolean };

function refuseBad(reply: Reply): void {
  if (reply.transitionId !== undefined && reply.duplicate === false) return;
  throw new Error(`a transition was not accepted as new: ${JSON.stringify(reply)}`);
}

/** Starts a task every `everyMs`, `count` times, without waiting for earlier ones; resolves when all have ended. */
export async function atPace(everyMs: number, count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  const underWay: Promise<unknown>[] = [];
  const startedAt = performance.now();
  for (let index = 0; index < count; index++) {
    const waitMs = startedAt + index * everyMs - performance.now();
    if (waitMs > 0) await pause(waitMs);
    underWay.push(work(index));
  }
  await Promise.all(underWay);
}
