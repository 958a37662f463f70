import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { ApiConfig } from '@herald/config/api-config';
import { createKeyspace } from '@herald/store/keyspace/keys';
import { createResources } from '@herald/runtime/lifecycle/resources';
import { createSecretCipher } from '@herald/store/secrets/secret-cipher';
import { demandUsableRedis, logRedisFindings } from '@herald/store/requirements/demand-usable-redis';
import { registerKeyVersion } from '@herald/store/secrets/register-key-version';
import { openClock } from '@herald/store/clock/open-clock';
import { openConnections } from '@herald/store/redis/open-connections';
import type { Logger } from '@herald/runtime/log/logger';
import { openShards } from '@herald/store/upgrade/open-shards';
import type { RunningProcess } from '@herald/runtime/lifecycle/run-process';
import { whenIdle } from '@herald/store/scripts/when-idle';
import { closeHttpServer } from './http/close-http-server.ts';
import { createHttpServer } from './http/create-http-server.ts';
import { withRequestId } from './http/request-id.ts';
import { createApiMetrics } from './create-api-metrics.ts';
import { composeApp } from './compose-app.ts';
import { connectApi } from './connect-api.ts';

/** Connections that the system keeps until they are taken: a crowd that comes back at once must not cost others theirs. */
const LISTEN_BACKLOG = 4_096;
/** How long requests may take to end when the process stops, in ms: less than the whole stop may. */
const CLOSE_LIMIT_MS = 12_000;

/** An API process: its connections and its HTTP server. */
export async function startApi(config: ApiConfig, logger: Logger, giveUp: () => void): Promise<RunningProcess> {
  const resources = createResources((name, error) => {
    logger.error('process.release_failed', { name }, error);
  });
  try {
    const metrics = createApiMetrics();
    const connections = openConnections({
      target: config.redis,
      use: 'request',
      metrics: metrics.redis,
      logger,
      giveUp,
    });
    resources.add('connections', connections.close);
    const clients = await connectApi(config, connections);
    const { redis } = clients;
    const findings = await demandUsableRedis(redis, {
      target: config.redis,
      minReplicas: config.minReplicas,
      shardCount: config.shardCount,
      wallClock: Date.now,
    });
    const clock = await openClock(redis, connections, metrics.registry, logger);
    resources.add('clock', clock.stop);
    const keyspace = createKeyspace(config.shardCount);
    const shards = await openShards({
      redis,
      shardCount: config.shardCount,
      role: 'api',
      now: clock.now,
      logger,
      metrics: metrics.data,
    });
    resources.add('shards', shards.close);
    const cipher = createSecretCipher(config.secretsKeys);
    await registerKeyVersion({ redis, keyspace, cipher, encrypts: true });
    logRedisFindings(logger, findings);
    const requestLogger = withRequestId(logger);
    const app = await whenIdle(
      Object.values(clients).filter((client) => client !== undefined),
      () =>
        composeApp(config, requestLogger, resources, clients, keyspace, cipher.encrypt, metrics, shards, {
          clock,
          isSilent: () => connections.isSilent(redis),
        }),
    );
    const server = createHttpServer(app);
    server.listen({ port: config.port, host: config.host, backlog: LISTEN_BACKLOG });
    await once(server, 'listening');
    resources.add('server', () => closeHttpServer(server, CLOSE_LIMIT_MS));
    const { port } = server.address() as AddressInfo;
    logger.info('api.started', { host: config.host, port, secretsKeys: cipher.fingerprints.join(',') });
    return { stop: resources.release };
  } catch (error) {
    await resources.release();
    throw error;
  }
}
