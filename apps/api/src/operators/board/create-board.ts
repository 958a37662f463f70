import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { createBullBoard } from '@bull-board/api';
import { defineScript } from '@herald/store/scripts/script';
import { nameConnection } from '@herald/store/redis/layout';
import { WAIT_CONNECTION } from '@herald/store/service-state/worker-presence';
import type { Keyspace } from '@herald/store/keyspace/keys';
import type { Logger } from '@herald/runtime/log/logger';
import type { Resources } from '@herald/runtime/lifecycle/resources';
import { createBoardQueue } from '@herald/queue/board/create-board-queue';
import type { RequestHandler } from 'express';
import { BoardServer } from './board-server.ts';
import { DeliveryAdapter } from './delivery-adapter.ts';
import { createDeliveryJobs, type DeliveryJobsDeps } from './delivery-jobs.ts';
import { judgeAction } from './judge-action.ts';

export type BoardDeps = DeliveryJobsDeps & {
  readonly keyspace: Keyspace;
  readonly canWrite: boolean;
  readonly resources: Resources;
  readonly logger: Logger;
};

/** Its page and what that loads. bull-board looks for it beside its own file, which is bundled. */
const UI_FOLDER = dirname(createRequire(import.meta.url).resolve('@bull-board/ui/package.json'));

const DESCRIPTION =
  'Delayed: until the next try, for their turn or the rate of their receiver, or while the receiver is left alone. Failed: the latest 1,000. A pause holds all but test events.';
const READ_ONLY = { label: 'read-only', color: '#475569' };
const CAN_WRITE = { label: 'changes are allowed', color: '#b45309' };

/** bull-board with the queue of every shard. */
export function createBoard(deps: BoardDeps): RequestHandler {
  const { redis, keyspace, canWrite, audit, logger, now } = deps;
  const hasShards = keyspace.shards.length > 1;
  const queues = keyspace.shards.map((keys, shard) => {
    const queue = createBoardQueue(hasShards ? `shard-${shard}.deliveries` : 'deliveries', {
      prefix: keys.prefix,
      defineScript: (_name, lua) => defineScript(redis, lua),
      now,
      jobs: createDeliveryJobs(deps, keys),
      workerConnection: nameConnection(WAIT_CONNECTION),
    });
    deps.resources.add('board queue', () => queue.close());
    return new DeliveryAdapter(queue, {
      title: hasShards ? `Deliveries, shard ${shard}` : 'Deliveries',
      description: DESCRIPTION,
      canWrite,
      readRedisInfo: () => redis.info(),
    });
  });

  const serverAdapter = new BoardServer(logger);
  createBullBoard({
    queues,
    serverAdapter,
    options: {
      uiBasePath: UI_FOLDER,
      handlerHooks: {
        before({ method, route }) {
          const verdict = judgeAction({ method, route, canWrite });
          return verdict.allow ? { allow: true } : { ...verdict, errorKey: 'ERRORS.FORBIDDEN' };
        },
        async after({ method, route, request }, result) {
          const verdict = judgeAction({ method, route, canWrite });
          const isDone = result.status === undefined || result.status < 300;
          // The redelivery of a job writes its entry itself: it knows the workspace.
          if (isDone && verdict.allow && verdict.action !== undefined && verdict.action !== 'redeliverDelivery') {
            const { queueName } = request.params as { queueName?: string };
            await audit({ action: verdict.action, target: queueName ?? 'every queue' });
          }
          return result;
        },
      },
      uiConfig: {
        boardTitle: 'Herald',
        hideDocsLink: true,
        sortQueues: false,
        showMetrics: false,
        jobDetails: { defaultTab: 'Data' },
        environment: { ...(canWrite ? CAN_WRITE : READ_ONLY), textColor: '#ffffff' },
      },
    },
  });
  return serverAdapter.getRouter() as RequestHandler;
}
