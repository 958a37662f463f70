import type { ApiConfig } from '@herald/config/api-config';
import { createResources } from '@herald/runtime/lifecycle/resources';
import { listen } from '@herald/runtime/net/listen';
import type { RunningProcess } from '@herald/runtime/lifecycle/run-process';
import type { Logger } from '@herald/runtime/log/logger';
import { openContext } from './context.ts';
import { createApp } from './create-app.ts';
import { closeHttpServer, createHttpServer } from './http/create-http-server.ts';

/** Connections that the system keeps until the process takes them. Many clients may reconnect at once. */
const LISTEN_BACKLOG = 4_096;
/** How long requests may take to end when the process stops, in ms. The whole stop may take longer. */
const CLOSE_LIMIT_MS = 12_000;

/** Starts an API process: its context and its HTTP server. */
export async function startApi(config: ApiConfig, logger: Logger, giveUp: () => void): Promise<RunningProcess> {
  const resources = createResources((name, error) => {
    logger.error('process.release_failed', { name }, error);
  });
  try {
    const context = await openContext({ config, logger, resources, giveUp });
    const server = createHttpServer(createApp(context));
    const { host, port } = config;
    const given = await listen(server, { host, port, backlog: LISTEN_BACKLOG }, { port: 'PORT', host: 'HOST' });
    resources.add('server', () => closeHttpServer(server, CLOSE_LIMIT_MS));
    // Released before the server, which waits for its answers, and before the connections.
    resources.add('listeners', () => context.listeners.close());
    logger.info('api.started', { host, port: given, secretsKeys: context.keyFingerprints.join(',') });
    return { stop: resources.release };
  } catch (error) {
    await resources.release();
    throw error;
  }
}
