import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type {
  AppViewRoute,
  ControllerHandlerReturnType,
  HTTPStatus,
  JobStatus,
  Status,
} from '@bull-board/api/typings/app';
import { ExpressAdapter } from '@bull-board/express';
import type { ApiConfig } from '@herald/config/api-config';
import { deliveryIdOf, NotFoundError, plainText, DeliveryIdText, TransitionIdText } from '@herald/core';
import type { BoardJob, BoardJobs } from '@herald/queue';
import { createBoardQueue } from '@herald/queue/board/create-board-queue';
import type { Resources } from '@herald/runtime/lifecycle';
import type { Logger } from '@herald/runtime/log';
import type { AttemptRecord } from '@herald/store/deliveries/attempt-record';
import type { Redeliver } from '@herald/store/lists/delivery-log';
import { readAttempts } from '@herald/store/lists/delivery-reader';
import { TEST_GROUP } from '@herald/store/keys/groups';
import { type Keyspace, type ShardKeys, workspaceOfOwner } from '@herald/store/keys/keys';
import {
  type DeliveryDescription,
  describeDelivery,
  createFailedView,
} from '@herald/store/operators/describe-delivery';
import { type RedisClient, listClients } from '@herald/store/redis/connect-redis';
import { nameConnection } from '@herald/store/keys/layout';
import { defineScript } from '@herald/store/redis/script';
import { WAIT_CONNECTION } from '@herald/store/operators/create-service-state-reader';
import type { RequestHandler } from 'express';
import type { Audit } from '../http/create-audit.ts';
import { toProblem } from '../http/problem.ts';
import { toTime } from '../http/answer-fields.ts';

export type BoardDeps = DeliveryJobsDeps & {
  /** Where it is shown. */
  readonly path: string;
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
  const { path, redis, keyspace, canWrite, audit, logger, now } = deps;
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

  const serverAdapter = new BoardServer(path, logger);
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

/** bull-board's server, with a page that loads nothing from other hosts, and with Herald's error messages. */
class BoardServer extends ExpressAdapter {
  readonly #logger: Logger;

  constructor(path: string, logger: Logger) {
    super();
    this.#logger = logger;
    this.app.disable('x-powered-by').disable('etag');
    this.setBasePath(path);
  }

  override setEntryRoute(entry: AppViewRoute): this {
    const showPage: RequestHandler = (_req, res, next) => {
      const { name, params } = entry.handler({ basePath: this.basePath, uiConfig: this.uiConfig });
      this.app.render(name, params, (error: Error | null, html: string) => {
        if (error) next(error);
        else res.type('html').send(toOwnPage(html));
      });
    };
    this.app.get(entry.route, showPage);
    return this;
  }

  override setErrorHandler(handler: (error: Error) => ControllerHandlerReturnType): this {
    return super.setErrorHandler((error) => {
      // From the body parser: bull-board's own page does not send such a request.
      if ('statusCode' in error) return handler(error);
      const { status, detail } = toProblem(error);
      if (status >= 500) this.#logger[status === 500 ? 'error' : 'warn']('board.failed', {}, error);
      return {
        status: status as HTTPStatus,
        body: { error: { key: 'ERRORS.INTERNAL_SERVER_ERROR' }, message: detail },
      };
    });
  }
}

/**
 * Removes from bull-board's page the links to other hosts (a font) and the inline styles. The page then loads under a
 * policy that allows neither, and no other host learns that somebody opened it.
 */
export function toOwnPage(html: string): string {
  return html
    .replace(/<link\b[^>]*\bhref="(?:https?:)?\/\/[^>]*>/gi, '')
    .replace(/<style\b[^>]*>[\s\S]*?<\/style>/gi, '')
    .replace(/(<(?:div|span)\b[^>]*?) style="[^"]*"/gi, '$1');
}

type DeliveryAdapterOptions = {
  readonly title: string;
  readonly description: string;
  readonly canWrite: boolean;
  /** Returns the answer of `INFO`. */
  readonly readRedisInfo: () => Promise<string>;
};

const STATES: JobStatus[] = ['active', 'waiting', 'delayed', 'failed'];

/** bull-board's own adapter without the states, buttons and pages that mean nothing for deliveries. */
class DeliveryAdapter extends BullMQAdapter {
  readonly #readRedisInfo: () => Promise<string>;

  constructor(
    queue: ConstructorParameters<typeof BullMQAdapter>[0],
    { title, description, canWrite, readRedisInfo }: DeliveryAdapterOptions,
  ) {
    super(queue, { displayName: title, description, delimiter: '.', readOnlyMode: !canWrite });
    this.#readRedisInfo = readRedisInfo;
  }

  override getStatuses(): Status[] {
    return ['latest', ...STATES];
  }
  override getJobStatuses(): JobStatus[] {
    return [...STATES];
  }
  /** The backend does not expose its connection. */
  override getRedisInfo(): Promise<string> {
    return this.#readRedisInfo();
  }
  override getFlowProducer(): Promise<null> {
    return Promise.resolve(null);
  }
  override get supportsGlobalRateLimit(): boolean {
    return false;
  }
}

type DeliveryJobsDeps = {
  readonly redis: RedisClient;
  readonly config: Pick<ApiConfig, 'retentionMs'>;
  readonly redeliver: Redeliver;
  readonly audit: Audit;
  readonly now: () => number;
};

/** The deliveries of one shard, as the jobs of a board. */
function createDeliveryJobs({ redis, config, redeliver, audit, now }: DeliveryJobsDeps, keys: ShardKeys): BoardJobs {
  const failed = createFailedView({ redis, keyspace: { shards: [keys] }, keepMs: config.retentionMs });
  // Whoever asks may name anything, and other keys of the shard have names of other kinds.
  const isId = (id: string) => DeliveryIdText.safeParse(id).success;
  const describe = async (id: string) => (isId(id) ? await describeDelivery(redis, keys, id) : undefined);
  const sendNow = async (id: string) => {
    const description = await describe(id);
    if (!description) throw new NotFoundError('delivery', id);
    const { workspaceId } = description.delivery;
    await redeliver(workspaceId, id);
    await audit({ action: 'redeliverDelivery', target: id, workspaceId: workspaceOfOwner(workspaceId) });
  };
  return {
    async find(id) {
      // The id in the body of an event is that of its transition: it leads to the first of its deliveries.
      const isTransition = TransitionIdText.safeParse(id).success;
      const [endpoint] = (isTransition ? await redis.hget(keys.transition(id), 'eps') : null)?.split(',') ?? [];
      const own = endpoint === undefined ? id : deliveryIdOf(id, endpoint);
      const description = await describe(own);
      return description && { ...toBoardJob(description), id: own };
    },
    readLogs: async (id) => (isId(id) ? await readAttempts(redis, keys, id) : []).map(toLogLine),
    retry: sendNow,
    promote: sendNow,
    failed: {
      count: () => failed.count(now()),
      list: (start, end) => failed.listIds(now(), start, end),
    },
    listClients: () => listClients(redis),
  };
}

/** A delivery as bull-board shows a job. */
export function toBoardJob(description: DeliveryDescription): BoardJob {
  const { delivery, lastAttempt } = description;
  const { createdAt, nextAttemptAt, settledAt, tries } = delivery;
  const failedReason = whyFailed(description);
  return {
    name: toTitle(description),
    data: toFacts(description),
    addedAt: createdAt,
    ...(nextAttemptAt !== undefined && { dueAt: nextAttemptAt }),
    // The page shows the time between the two.
    ...(settledAt !== undefined && { startedAt: lastAttempt?.at ?? createdAt, endedAt: settledAt }),
    attemptsMade: tries,
    ...(failedReason !== '' && { failedReason }),
    groups: groupsOf(description),
    ...(delivery.status !== 'pending' && { ended: delivery.status === 'delivered' ? 'completed' : 'failed' }),
  };
}

/** The reason of a failed or canceled delivery, and the outcome of its last attempt if that failed. */
function whyFailed({ delivery: { reason }, lastAttempt }: DeliveryDescription): string {
  const outcome = lastAttempt && !hasSucceeded(lastAttempt) ? toWords(lastAttempt) : undefined;
  return [reason, outcome].filter((part) => part !== undefined).join(': ');
}

/** The groups in which it can wait: none if nothing is to be sent. */
function groupsOf({ delivery, group }: DeliveryDescription): readonly string[] {
  if (delivery.status !== 'pending' && delivery.owedAttempts === 0) return [];
  return [...(delivery.event === 'webhook.test' ? [TEST_GROUP] : []), group];
}

/** The data of a job, in the order in which people read it. */
export function toFacts({
  delivery,
  host,
  endpointState,
  attempts,
  lastOutcome,
  waitingFor,
}: DeliveryDescription): BoardJob['data'] {
  const { nextAttemptAt, settledAt, taskId, reason, owedAttempts } = delivery;
  return {
    event: delivery.event,
    workspace: delivery.workspaceId,
    host: host ?? '(removed)',
    endpoint: delivery.endpointId,
    ...(endpointState !== 'enabled' && { endpointState }),
    ...(taskId !== undefined && { task: taskId }),
    status: delivery.status,
    ...(reason !== undefined && { reason }),
    tries: delivery.tries,
    attempts,
    lastOutcome: lastOutcome ?? 'none yet',
    ...(owedAttempts > 0 && { redeliveriesOwed: owedAttempts }),
    ...(nextAttemptAt !== undefined && { nextTry: toTime(nextAttemptAt) }),
    ...(waitingFor !== undefined && { waitingFor }),
    accepted: toTime(delivery.createdAt),
    ...(settledAt !== undefined && { settled: toTime(settledAt) }),
  };
}

export function toTitle({ delivery, host }: DeliveryDescription): string {
  return `${delivery.event} → ${host ?? '(removed)'}`;
}

/** How much of an answer a line shows, in characters. The customer's log has 1 KiB. */
const ANSWER_LENGTH = 200;

/** The outcome of an attempt, in words. */
export function toWords({ status, error, bodyNote }: AttemptRecord): string {
  if (status === undefined) return `no answer (${error ?? 'unknown'})`;
  return `answered ${status}${bodyNote === undefined ? '' : ` (${bodyNote})`}`;
}

export function hasSucceeded({ status }: AttemptRecord): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

/** An attempt as a line of a log, with the beginning of the answer. It is text: the page escapes it. */
export function toLogLine(attempt: AttemptRecord): string {
  const line = `${new Date(attempt.at).toISOString()} ${toWords(attempt)} after ${attempt.durationMs} ms`;
  const answer = plainText(attempt.answer ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  if (answer === '') return line;
  return `${line}: ${answer.length > ANSWER_LENGTH ? `${answer.slice(0, ANSWER_LENGTH)}…` : answer}`;
}

/** The actions of the board, as the audit trail names them. Each is safe while the service runs. */
export type BoardAction = 'pauseQueue' | 'resumeQueue' | 'redeliverDelivery';

/** The routes of bull-board that operators may use for a change. Every other change is refused. */
const ACTIONS: Readonly<Record<string, BoardAction>> = {
  'put /api/queues/:queueName/pause': 'pauseQueue',
  'put /api/queues/:queueName/resume': 'resumeQueue',
  'put /api/queues/pause': 'pauseQueue',
  'put /api/queues/resume': 'resumeQueue',
  'put /api/queues/:queueName/:jobId/promote': 'redeliverDelivery',
  'put /api/queues/:queueName/:jobId/retry': 'redeliverDelivery',
};

type ActionVerdict =
  | { readonly allow: true; readonly action?: BoardAction }
  | { readonly allow: false; readonly status: 403 | 405; readonly message: string };

type ActionRequest = {
  /** In lower case. */
  readonly method: string;
  /** The pattern of bull-board's route. */
  readonly route: string;
  readonly canWrite: boolean;
};

/** Whether a request to a route of bull-board may go on. A route that is not in the table may not. */
export function judgeAction({ method, route, canWrite }: ActionRequest): ActionVerdict {
  if (method === 'get') return { allow: true };
  if (!canWrite) {
    return {
      allow: false,
      status: 405,
      message: 'The board is read-only. OPERATOR_WRITE=true allows what is harmless.',
    };
  }
  const action = ACTIONS[`${method} ${route}`];
  if (action === undefined) return { allow: false, status: 403, message: WHY_NOT };
  return { allow: true, action };
}

const WHY_NOT =
  'Not offered here. A job is a delivery, which is not added, changed or removed by hand. ' +
  'To end deliveries, disable or remove their receiver; to send many again, ask for a replay.';
