import type { ApiConfig } from '@herald/config/api-config';
import { createResources } from '@herald/runtime/lifecycle/resources';
import { listen } from '@herald/runtime/net/listen';
import type { RunningProcess } from '@herald/runtime/lifecycle/run-process';
import type { Logger } from '@herald/runtime/log/logger';
import { openContext, type AppContext } from './context.ts';
import { createApp, createOperatorApp } from './create-app.ts';
import { closeHttpServer, createHttpServer } from './http/create-http-server.ts';

/** Connections that the system keeps until the process takes them. Many clients may reconnect at once. */
const LISTEN_BACKLOG = 4_096;
/** How long requests may take to end when the process stops, in ms. The whole stop may take longer. */
const CLOSE_LIMIT_MS = 12_000;
/** The same at the port of operators, where nothing is lost. */
const OPERATORS_CLOSE_LIMIT_MS = 2_000;

/** Starts an API process: its context and its HTTP server. */
export async function startApi(config: ApiConfig, logger: Logger, giveUp: () => void): Promise<RunningProcess> {
  const resources = createResources((name, error) => {
    logger.error('process.release_failed', { name }, error);
  });
  try {
    const context = await openContext({ config, logger, resources, giveUp });
    const operatorPort = await listenForOperators(context);
    const server = createHttpServer(createApp(context));
    const { host, port } = config;
    const given = await listen(server, { host, port, backlog: LISTEN_BACKLOG }, { port: 'PORT', host: 'HOST' });
    resources.add('server', () => closeHttpServer(server, CLOSE_LIMIT_MS));
    // Released before the server, which waits for its answers, and before the connections.
    resources.add('listeners', () => context.listeners.close());
    logger.info('api.started', { host, port: given, operatorPort, secretsKeys: context.keyFingerprints.join(',') });
    return { stop: resources.release };
  } catch (error) {
    await resources.release();
    throw error;
  }
}

/**
 * Opens the port of operators, if they have one. It is released after the server of customers, so that it shows how the
 * process ends. Returns the port.
 */
async function listenForOperators(context: AppContext): Promise<number | undefined> {
  const { operatorListener } = context.config;
  if (!operatorListener) return undefined;
  const server = createHttpServer(createOperatorApp(context));
  const given = await listen(server, operatorListener, { port: 'OPERATOR_PORT', host: 'OPERATOR_HOST' });
  context.resources.add('operators', () => closeHttpServer(server, OPERATORS_CLOSE_LIMIT_MS));
  return given;
}
