import { createBullBoard } from '@bull-board/api';
import {
  createBacklogView,
  createFailedView,
  createLineView,
  QUEUE_NAMES,
  type Keyspace,
  type Logger,
  type QueueName,
  type RedisClient,
  type Resources,
} from '@herald/infra';
import type { RequestHandler } from 'express';
import { createBacklogSource } from './backlog-source.ts';
import { BoardQueue, type BoardQueueOptions } from './board-queue.ts';
import { BoardServer } from './board-server.ts';
import { createFailedSource } from './failed-source.ts';
import { judgeAction } from './judge-action.ts';
import { createLineSource, type AttemptNow } from './line-source.ts';

export type BoardDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  /** How long settled deliveries are kept, in ms. */
  readonly retentionMs: number;
  readonly canWrite: boolean;
  readonly attemptNow: AttemptNow;
  readonly resources: Resources;
  readonly logger: Logger;
  readonly now: () => number;
};

const TEXTS: Record<QueueName | 'backlogs' | 'failed', { readonly title: string; readonly description: string }> = {
  deliveries: {
    title: 'Deliveries',
    description: 'The line: deliveries that are being sent, wait for a worker, or wait for their next try (delayed).',
  },
  backlogs: {
    title: 'Backlogs',
    description:
      'Destinations whose deliveries wait outside the line, the longest first. Waiting: it is served. Delayed: its breaker is open, or it asked to be left alone.',
  },
  failed: {
    title: 'Failed deliveries',
    description: 'Deliveries whose tries are used up: the latest 1,000 of each shard. A replay brings them back.',
  },
  tests: { title: 'Test events', description: 'The lane of the test operation. It is empty but for moments.' },
};

const READ_ONLY = { label: 'read-only', color: '#475569' };
const CAN_WRITE = { label: 'changes are allowed', color: '#b45309' };

/** bull-board, for every queue of every shard, and for what waits or ended outside of queues. */
export function createBoard(deps: BoardDeps): RequestHandler {
  const { redis, keyspace, canWrite, logger, now } = deps;
  const build = (
    name: keyof typeof TEXTS,
    shard: number | undefined,
    rest: Pick<BoardQueueOptions, 'actions' | 'source'>,
  ) =>
    new BoardQueue({
      ...{ ...TEXTS[name], ...rest, canWrite, readRedisInfo: () => redis.info() },
      ...(shard === undefined
        ? { name }
        : { name: `shard-${shard}.${name}`, title: `${TEXTS[name].title}, shard ${shard}` }),
    });
  const buildLines = (name: QueueName) =>
    keyspace.shards.map((keys, index) => {
      const line = createLineView({ redis, keys, name });
      deps.resources.add('board queue', line.close);
      return build(name, keyspace.shards.length > 1 ? index : undefined, {
        // A test event is sent at once or never.
        actions: name === 'deliveries' ? ['pause', 'resume', 'promote'] : ['pause', 'resume'],
        source: createLineSource({ line, attemptNow: deps.attemptNow }),
      });
    });
  const failed = createFailedView({ redis, keyspace, keepMs: deps.retentionMs });
  const [deliveries, tests] = QUEUE_NAMES.map(buildLines);
  const queues = [
    ...(deliveries ?? []),
    build('backlogs', undefined, {
      actions: [],
      source: createBacklogSource({ backlogs: createBacklogView({ redis, keyspace }), now }),
    }),
    build('failed', undefined, {
      actions: ['retry'],
      source: createFailedSource({ failed, attemptNow: deps.attemptNow, now }),
    }),
    ...(tests ?? []),
  ];

  const serverAdapter = new BoardServer(logger);
  createBullBoard({
    queues,
    serverAdapter,
    options: {
      handlerHooks: {
        before({ method, route, request }) {
          const { queueName, jobId } = request.params as { queueName?: string; jobId?: string };
          const offered = queues.find((queue) => queue.getName() === queueName)?.actions;
          const verdict = judgeAction({ method, route, offered, canWrite });
          if (!verdict.allow) return { ...verdict, errorKey: 'ERRORS.FORBIDDEN' };
          if (verdict.action)
            logger.info('operator.acted', { action: verdict.action, queue: queueName, deliveryId: jobId });
          return { allow: true };
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
