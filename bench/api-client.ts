import { openHttpConnection, type HttpConnection } from './http-connection.ts';

/** Calls an API with one key over a fixed number of connections; calls beyond them wait. */
export type ApiClient = AsyncDisposable & {
  /** The parsed answer. @throws Error when it isn't 2xx */
  readonly call: (method: string, path: string, body?: unknown) => Promise<unknown>;
};

export type ApiClientOptions = { readonly port: number; readonly key?: string; readonly connections: number };

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
