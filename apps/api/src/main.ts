import type { RequestListener } from 'node:http';
import { type ApiConfig, readApiConfig } from '@herald/config/api-config';
import { createResources, type Resources, type RunningProcess, runProcess } from '@herald/runtime/lifecycle';
import { createLogger, type Logger } from '@herald/runtime/log';
import { type AddressVariables, listen, type ListenAddress } from '@herald/runtime/listen';
import { createWaitingView } from '@herald/store/operators/exposition';
import { explainStartFailure, openWhenUsable } from '@herald/store/redis/open-when-usable';
import { openContext } from './context.ts';
import { createApp, createOperatorApp, createWaitingApp } from './create-app.ts';
import { closeHttpServer, createHttpServer } from './http/create-http-server.ts';

/** Connections that the system keeps until the process takes them. Many clients may reconnect at once. */
const LISTEN_BACKLOG = 4_096;
/** How long requests may take to end when the process stops, in ms. The whole stop may take longer. */
const CLOSE_LIMIT_MS = 12_000;
/** The same at the port of operators, where nothing is lost. */
const OPERATORS_CLOSE_LIMIT_MS = 2_000;

/**
 * Starts an API process: its context and its HTTP servers. While Redis can't be used it waits: its ports answer then that
 * it isn't ready.
 * @param signal aborted: it waits no longer
 */
async function startApi(
  config: ApiConfig,
  logger: Logger,
  signal: AbortSignal,
  giveUp: () => void,
): Promise<RunningProcess> {
  const onFailure = (name: string, error: unknown) => {
    logger.error('process.release_failed', { name }, error);
  };
  const resources = createResources(onFailure);
  // Released first: they need the connections for the answers that are under way.
  const servers = createResources(onFailure);
  const stop = async () => {
    await servers.release();
    await resources.release();
  };
  const answerBy = createDoors(config, servers);
  const view = createWaitingView('api');
  let waiting: Promise<unknown> | undefined;
  try {
    const context = await openWhenUsable({
      target: config.redis,
      minReplicas: config.minReplicas,
      shardCount: config.shardCount,
      wallClock: Date.now,
      logger,
      signal,
      resources,
      async onWait(cause) {
        view.show(cause);
        // Only now: a start that doesn't wait leaves callers to the other APIs until it can serve them.
        waiting ??= answerBy((door) => createWaitingApp({ config, logger, view }, door));
        await waiting;
      },
      open: (weaknesses) => openContext({ config, logger, resources, giveUp, weaknesses }),
    });
    if (!context) return { stop };
    const { port, operatorPort } = await answerBy((door) =>
      door === 'customers' ? createApp(context) : createOperatorApp(context),
    );
    // Released before the server, which waits for its answers, and before the connections.
    servers.add('listeners', () => context.listeners.close());
    const { host } = config;
    logger.info('api.started', { host, port, operatorPort, secretsKeys: context.keyFingerprints.join(',') });
    return { stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Door = 'customers' | 'operators';

/**
 * The ports of an API, opened by the first call. Later calls set what answers there. That of operators, if they have one, is
 * released after that of customers, so that it shows how the process ends.
 */
function createDoors({ host, port, operatorListener }: ApiConfig, servers: Resources) {
  const open = async (door: Door, closeLimitMs: number, address: ListenAddress, variables: AddressVariables) => {
    const server = createHttpServer((req, res) => listeners.get(door)?.(req, res));
    const given = await listen(server, address, variables);
    servers.add(door, () => closeHttpServer(server, closeLimitMs));
    return given;
  };
  const listeners = new Map<Door, RequestListener>();
  let ports: { readonly port: number; readonly operatorPort: number | undefined } | undefined;
  return async (createListener: (door: Door) => RequestListener) => {
    if (operatorListener) listeners.set('operators', createListener('operators'));
    listeners.set('customers', createListener('customers'));
    if (ports) return ports;
    const ofOperators = { port: 'OPERATOR_PORT', host: 'OPERATOR_HOST' };
    const operatorPort =
      operatorListener && (await open('operators', OPERATORS_CLOSE_LIMIT_MS, operatorListener, ofOperators));
    const address = { host, port, backlog: LISTEN_BACKLOG };
    ports = { port: await open('customers', CLOSE_LIMIT_MS, address, { port: 'PORT', host: 'HOST' }), operatorPort };
    return ports;
  };
}

const STOP_LIMIT_MS = 15_000;

let logger: Logger | undefined;

await runProcess({
  start: (signal) => {
    const config = readApiConfig(process.env);
    logger = createLogger({ level: config.logLevel, process: 'api', readable: process.stdout.isTTY });
    // If the connections do not recover, the process ends and its supervisor starts another.
    return startApi(config, logger, signal, () => process.exit(1));
  },
  explain: explainStartFailure,
  logger: () => logger,
  stopLimitMs: () => STOP_LIMIT_MS,
});
