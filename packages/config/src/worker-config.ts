import { DEFAULT_DELIVERY_TIMEOUT_MS, DEFAULT_DISABLE_AFTER_MS, DEFAULT_SCHEDULE_MS, NoticeUrl } from '@herald/core';
import { EgressEnv } from '@herald/egress/egress-env';
import { createEndpointUrlJudge } from '@herald/egress/judge-url-host';
import { IntegerText, ParsedText, Port, problemOf, readEnv, readItems, Switch } from '@herald/runtime/env';
import { z } from 'zod';
import { withOneRedis } from './redis-env.ts';
import { Duration, DurationList, ProcessEnv, toProcessConfig, withLongerHistory } from './shared-env.ts';

const Schedule = DurationList.refine((list) => list.length <= 40, 'must be at most 40 durations');

/** Variables that mean something when they are set but empty: no retries. */
export const MEANT_WHEN_EMPTY: readonly string[] = ['RETRY_SCHEDULE', 'CALLBACK_RETRY_SCHEDULE'];

/** Standard Webhooks asks for so many bytes. */
const SECRET_BYTES = { min: 24, max: 64 };

/** Where notices to the platform go, and the secret that signs them. Without both there are none. */
const NoticeEnv = z.object({
  NOTICE_URL: NoticeUrl.optional(),
  NOTICE_SECRET: ParsedText(
    readSecret,
    'must be whsec_ and the base64 of 24 to 64 bytes: echo "whsec_$(openssl rand -base64 32)" makes one',
  ).optional(),
});

const SHARDS_ITEM = /^(\d{1,3})(?:-(\d{1,3}))?$/;

/** `all`, or shards such as `0,2-3`, from 0; sorted, each once. */
const ShardList = ParsedText(
  (text) => (text.trim() === 'all' ? ('all' as const) : readShards(text)),
  'must be all, or shards separated by commas, such as 0,2-3',
);

export const WorkerEnv = withOneRedis(
  z.object({
    ...ProcessEnv.shape,
    ...EgressEnv.shape,
    ...NoticeEnv.shape,
    TRACEPARENT_TO_RECEIVERS: Switch,
    WORKER_PORT: Port.default(8081),
    WORKER_HOST: z.string().default('127.0.0.1'),
    CONCURRENCY: IntegerText(1, 10_000).default(100),
    DELIVERY_TIMEOUT: Duration.refine((ms) => ms > 0 && ms <= 600_000, 'must be more than 0 and at most 10m').default(
      DEFAULT_DELIVERY_TIMEOUT_MS,
    ),
    WORKER_SHARDS: ShardList.default('all'),
    DESTINATION_CONCURRENCY: IntegerText(1, 10_000).default(50),
    DISABLE_AFTER: Duration.default(DEFAULT_DISABLE_AFTER_MS),
    RETRY_SCHEDULE: Schedule.default([...DEFAULT_SCHEDULE_MS]),
    CALLBACK_RETRY_SCHEDULE: Schedule.optional(),
  }),
).superRefine(({ SHARDS, WORKER_SHARDS, EGRESS_DNS, EGRESS_DNS_SERVERS }, context) => {
  if (EGRESS_DNS === 'system' && EGRESS_DNS_SERVERS.length > 0) {
    const both = 'must not be system beside EGRESS_DNS_SERVERS: the system asks its own servers';
    context.addIssue({ code: 'custom', path: ['EGRESS_DNS'], message: both });
  }
  if (WORKER_SHARDS === 'all' || WORKER_SHARDS.every((shard) => shard < SHARDS)) return;
  const message = `must name shards from 0 to ${SHARDS - 1}, since SHARDS is ${SHARDS}`;
  context.addIssue({ code: 'custom', path: ['WORKER_SHARDS'], message });
});

/** The settings of a worker. */
export type WorkerConfig = ReturnType<typeof readWorkerConfig>;

/** @throws ConfigError with every problem at once */
export function readWorkerConfig(env: NodeJS.ProcessEnv) {
  const given = readEnv(withLongerHistory(withUsableNotices(WorkerEnv)), env, MEANT_WHEN_EMPTY);
  const allShards = Array.from({ length: given.SHARDS }, (_, shard) => shard);
  return {
    ...toProcessConfig(given),
    /** The shards that this worker serves, from 0. */
    workerShards: given.WORKER_SHARDS === 'all' ? allShards : given.WORKER_SHARDS,
    egress: {
      allowCidrs: given.EGRESS_ALLOW_CIDRS,
      denyCidrs: given.EGRESS_DENY_CIDRS,
      caPem: given.EGRESS_CA_FILE,
      names: { servers: given.EGRESS_DNS_SERVERS, bySystem: given.EGRESS_DNS === 'system' },
      proxyAddress: given.EGRESS_PROXY_URL,
    },
    /** Undefined: there are no notices. */
    notices: toNoticeConfig(given),
    sendsTraceparent: given.TRACEPARENT_TO_RECEIVERS,
    port: given.WORKER_PORT,
    host: given.WORKER_HOST,
    concurrency: given.CONCURRENCY,
    destinationConcurrency: given.DESTINATION_CONCURRENCY,
    disableAfterMs: given.DISABLE_AFTER,
    deliveryTimeoutMs: given.DELIVERY_TIMEOUT,
    retryScheduleMs: given.RETRY_SCHEDULE,
    callbackRetryScheduleMs: given.CALLBACK_RETRY_SCHEDULE ?? given.RETRY_SCHEDULE,
  };
}

function readSecret(text: string): string | undefined {
  const base64 = /^whsec_(.+)$/.exec(text)?.[1] ?? '';
  const bytes = Buffer.from(base64, 'base64');
  // Node skips unknown characters in base64, so a quoted or cut secret would become another one.
  const isWhole = bytes.toString('base64') === base64;
  return isWhole && bytes.length >= SECRET_BYTES.min && bytes.length <= SECRET_BYTES.max ? text : undefined;
}

type Given = Partial<z.infer<typeof NoticeEnv>> & {
  readonly EGRESS_ALLOW_CIDRS: readonly string[];
  readonly EGRESS_DENY_CIDRS: readonly string[];
};

/** One without the other is a mistake, and so is a url that a receiver could not have. */
function withUsableNotices<Schema extends z.ZodType<Given>>(schema: Schema): Schema {
  return schema
    .refine(
      ({ NOTICE_URL: url, NOTICE_SECRET: secret }) => url === undefined || secret !== undefined,
      problemOf('NOTICE_SECRET', 'must be set, since NOTICE_URL is: echo "whsec_$(openssl rand -base64 32)" makes one'),
    )
    .refine(
      ({ NOTICE_URL: url, NOTICE_SECRET: secret }) => secret === undefined || url !== undefined,
      problemOf('NOTICE_URL', 'must be set, since NOTICE_SECRET is'),
    )
    .superRefine(({ NOTICE_URL: url, EGRESS_ALLOW_CIDRS: allowCidrs, EGRESS_DENY_CIDRS: denyCidrs }, context) => {
      const problem = url === undefined ? undefined : createEndpointUrlJudge({ allowCidrs, denyCidrs })(url);
      if (problem === undefined) return;
      context.addIssue({ code: 'custom', path: ['NOTICE_URL'], message: problem });
    });
}

function toNoticeConfig({ NOTICE_URL: url, NOTICE_SECRET: secret }: z.infer<typeof NoticeEnv>) {
  return url === undefined || secret === undefined ? undefined : { url, secret };
}
export type NoticeConfig = NonNullable<ReturnType<typeof toNoticeConfig>>;

function readShards(text: string): readonly number[] | undefined {
  const ranges = readItems(text, readRange);
  return ranges && [...new Set(ranges.flat())].sort((a, b) => a - b);
}

function readRange(item: string): number[] | undefined {
  const [, firstText, lastText = firstText] = SHARDS_ITEM.exec(item) ?? [];
  if (firstText === undefined) return undefined;
  const [first, last] = [Number(firstText), Number(lastText)];
  return first <= last ? Array.from({ length: last - first + 1 }, (_, index) => first + index) : undefined;
}
