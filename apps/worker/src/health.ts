import { once } from 'node:events';
import { createServer } from 'node:http';
import { listen } from '@herald/runtime/listen';
import type { Readiness } from '@herald/store/operators/create-readiness';
import type { Exposition } from '@herald/store/operators/exposition';

type HealthAddress = {
  readonly host: string;
  readonly port: number;
};

/** What it shows. */
export type HealthView = {
  readonly readReadiness: () => Promise<Readiness>;
  readonly exposition: Exposition;
};

type Answer = { readonly status: number; readonly type: string; readonly body: string };

/** Serves `/healthz` (the process lives), `/readyz` (whether it can work, or why not) and `/metrics` (Prometheus). */
export async function startHealthServer({ host, port }: HealthAddress, first: HealthView) {
  let view = first;
  const answer = async (path: string): Promise<Answer> => {
    switch (path) {
      case '/healthz':
        return toJson(200, { status: 'ok' });
      case '/readyz': {
        const readiness = await view.readReadiness();
        return toJson(readiness.status === 'ok' ? 200 : 503, readiness);
      }
      case '/metrics':
        return { status: 200, type: view.exposition.contentType, body: await view.exposition.render() };
      default:
        return toJson(404, { status: 'not_found' });
    }
  };
  const server = createServer((req, res) => {
    answer(req.url?.split('?')[0] ?? '')
      .catch(() => toJson(500, { status: 'failed' }))
      .then(({ status, type, body }) => res.writeHead(status, { 'content-type': type }).end(body))
      .catch(() => res.destroy());
  });
  server.requestTimeout = 10_000;
  const given = await listen(server, { host, port }, { port: 'WORKER_PORT', host: 'WORKER_HOST' });
  return {
    port: given,
    show: (next: HealthView): void => {
      view = next;
    },
    close: async (): Promise<void> => {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}

function toJson(status: number, body: object): Answer {
  return { status, type: 'application/json', body: JSON.stringify(body) };
}
