import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export type HealthServerDeps = {
  readonly host: string;
  readonly port: number;
  /** Why the worker can't work now; empty when it can. */
  readonly findProblems: () => Promise<readonly string[]>;
};

export type HealthServer = { readonly port: number; readonly close: () => Promise<void> };

/** `/healthz`: the process lives. `/readyz`: it can fetch and send, or why not. */
export async function startHealthServer({ host, port, findProblems }: HealthServerDeps): Promise<HealthServer> {
  const answer = async (path: string | undefined): Promise<[number, object]> => {
    if (path === '/healthz') return [200, { status: 'ok' }];
    if (path !== '/readyz') return [404, { status: 'not_found' }];
    const problems = await findProblems();
    return problems.length === 0 ? [200, { status: 'ok' }] : [503, { status: 'unavailable', problems }];
  };
  const server: Server = createServer((req, res) => {
    void answer(req.url?.split('?')[0]).then(([status, body]) => {
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  server.requestTimeout = 10_000;
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}
