import { ApiEnv } from './api-config.ts';
import { WorkerEnv } from './worker-config.ts';

/** The names of the variables that each process reads. */
export const VARIABLES = {
  api: Object.keys(ApiEnv.shape),
  worker: Object.keys(WorkerEnv.shape),
};

/** What docs/configuration.md says of a variable. */
export type VariableText = {
  /** Who reads it: `all`, or some of `api`, `worker` and commands of `herald`. */
  readonly readBy: string;
  /** A sentence in Markdown, without its full stop. */
  readonly what: string;
  /** The default as one would type it, or in words what happens without the variable. */
  readonly usual: string | { readonly without: string };
};

type Name = keyof typeof ApiEnv.shape | keyof typeof WorkerEnv.shape;

const REFUSES_TO_START = { without: 'the process refuses to start' };
const NOT_NEEDED = { without: 'none' };

/** Every variable of the API and the worker, under the headings of its page. */
export const VARIABLE_TEXTS = {
  Redis: {
    REDIS_URL: { readBy: 'all', what: 'One server', usual: 'redis://127.0.0.1:6379' },
    REDIS_CLUSTER_NODES: {
      readBy: 'all',
      what: 'Instead: some nodes of a Redis Cluster, such as `10.0.0.1:6379,10.0.0.2:6379`; with TLS and credentials `rediss://user:password@10.0.0.1:6379,10.0.0.2:6379`',
      usual: NOT_NEEDED,
    },
    REDIS_SENTINELS: {
      readBy: 'all',
      what: 'Instead: Sentinels in the same form. Credentials, and a database after `/`, are those of the watched Redis',
      usual: NOT_NEEDED,
    },
    REDIS_SENTINEL_MASTER: {
      readBy: 'all',
      what: 'The name under which the Sentinels watch the master',
      usual: NOT_NEEDED,
    },
    REDIS_SENTINEL_PASSWORD: { readBy: 'all', what: 'The password of the Sentinels themselves', usual: NOT_NEEDED },
    REDIS_MIN_REPLICAS: {
      readBy: 'api, `herald`',
      what: 'Replicas that must have a change before it is acknowledged (`WAIT`): [what it guarantees](scaling.md#what-redis_min_replicas-guarantees)',
      usual: '0',
    },
    SHARDS: {
      readBy: 'all, the same everywhere',
      what: "The number of [shards](scaling.md#shards). With a number other than the data's, nothing starts; `herald shards reshard` changes it",
      usual: '1',
    },
    RETENTION: {
      readBy: 'api, worker, `herald replay`',
      what: 'How long settled deliveries are kept',
      usual: '7d',
    },
    HISTORY_URL: {
      readBy: 'all',
      what: 'A PostgreSQL to which settled deliveries move after `RETENTION`, which then is 1h: see [history.md](history.md)',
      usual: NOT_NEEDED,
    },
    HISTORY_RETENTION: {
      readBy: 'api, worker, `herald history`',
      what: 'How long they, and the audit trail, stay there, in whole days',
      usual: '90d',
    },
    HISTORY_BODIES: {
      readBy: 'api, worker, `herald history`',
      what: '`false` leaves bodies and answers out. Then what has moved can be neither redelivered nor replayed',
      usual: 'true',
    },
    AUDIT_LENGTH: {
      readBy: 'all',
      what: 'How many entries of [the audit trail](audit.md) each shard keeps, from 100 to 1,000,000',
      usual: '10000',
    },
    TASK_RETENTION: { readBy: 'api, worker', what: 'How long terminal Tasks are kept', usual: '30d' },
  },
  Secrets: {
    SECRETS_KEY: {
      readBy: 'api, worker, `herald secrets` and `doctor`',
      what: 'Base64 keys of 32 bytes, separated by commas; the first encrypts, all decrypt. `openssl rand -base64 32` makes one. Keep a copy apart from Redis: without it, nothing can be signed. It can be [changed while the service runs](runbook.md#changing-secrets_key)',
      usual: REFUSES_TO_START,
    },
  },
  'The API': {
    PORT: { readBy: 'api', what: 'Its port', usual: '8080' },
    HOST: { readBy: 'api', what: 'The address at which it listens', usual: '127.0.0.1' },
    ACTION_URL_TEMPLATE: {
      readBy: 'api',
      what: 'Your page on which a person decides an action of a Task, such as `https://app.example.com/tasks/{taskId}/actions/{actionVersion}`',
      usual: REFUSES_TO_START,
    },
    PUBLIC_URL: {
      readBy: 'api',
      what: 'The url at which people reach it, such as `https://herald.example.com`; links to [the console](console.md) begin with it',
      usual: { without: 'links are paths' },
    },
    CONSOLE_FRAME_ANCESTORS: {
      readBy: 'api',
      what: 'Origins, separated by commas, whose pages may show [the console](console.md#in-a-page-of-yours) in a frame',
      usual: NOT_NEEDED,
    },
    CONSOLE_BRAND: {
      readBy: 'api',
      what: 'JSON with the `name`, `logo`, `accent` and `support` link under which customers see [the console](console.md#your-own-look)',
      usual: { without: 'Herald' },
    },
    API_ALLOWED_ORIGINS: {
      readBy: 'api',
      what: 'Origins, separated by commas, whose pages may call the API [in a browser](integrating.md#6-let-the-customer-in)',
      usual: NOT_NEEDED,
    },
    RATE_LIMIT: {
      readBy: 'api',
      what: 'Requests per second of one workspace, with all its keys and links; 0: no limit',
      usual: '200',
    },
    WORKSPACE_PENDING_LIMIT: {
      readBy: 'api, worker',
      what: 'Deliveries that one workspace may have pending; past it, its own reports, Tasks, test events and redeliveries are refused ([`workspace_full`](errors.md#answers-of-the-api)), and its replays wait; 0: no limit',
      usual: '100000',
    },
    WORKSPACE_BYTES: {
      readBy: 'api, worker',
      what: 'Bytes that the Tasks, facts, bodies, attempts and kept answers of one workspace may take in Redis, likewise; 0: no limit',
      usual: '268435456',
    },
    TRUST_PROXY: {
      readBy: 'api',
      what: 'The number of your proxies in front ([limits](http.md#limits)). While it is 0 and requests bring `X-Forwarded-For`, `/readyz` and `herald doctor` warn',
      usual: '0',
    },
    OPERATOR_USER: {
      readBy: 'api',
      what: 'The name of the operator who may see the [operator pages](runbook.md#the-board) and the metrics of the API',
      usual: { without: 'no such pages' },
    },
    OPERATOR_PASSWORD: {
      readBy: 'api',
      what: "The operator's password, of at least 12 characters",
      usual: { without: 'no such pages' },
    },
    OPERATOR_WRITE: {
      readBy: 'api',
      what: '`true` lets operators pause the queue and retry deliveries',
      usual: 'false',
    },
    OPERATOR_PORT: {
      readBy: 'api',
      what: 'A port of their own for the [operator pages](runbook.md#a-port-of-their-own) and `/metrics`, which then are nowhere else',
      usual: { without: 'they are at `PORT`' },
    },
    OPERATOR_HOST: {
      readBy: 'api',
      what: 'The address at which it listens there',
      usual: { without: "`HOST`'s" },
    },
    METRICS_TOKEN: {
      readBy: 'api',
      what: 'A token of at least 16 characters with which Prometheus reads `/metrics` (`Authorization: Bearer …`), and nothing else',
      usual: { without: 'operators alone read it' },
    },
  },
  Workers: {
    WORKER_PORT: { readBy: 'worker', what: 'The port of `/healthz`, `/readyz`, `/metrics`', usual: '8081' },
    WORKER_HOST: { readBy: 'worker', what: 'The address of these pages', usual: '127.0.0.1' },
    CONCURRENCY: {
      readBy: 'worker',
      what: 'Sends in flight per shard to quick receivers; [slow ones](operating.md#sizing) get ten times as many beside them',
      usual: '100',
    },
    DESTINATION_CONCURRENCY: {
      readBy: 'worker',
      what: 'Sends in flight to one receiver, or to the callbacks of a workspace to one origin, over all workers',
      usual: '50',
    },
    WORKER_SHARDS: { readBy: 'worker', what: 'The shards that it serves, such as `0,2-3`', usual: 'all' },
    DELIVERY_TIMEOUT: { readBy: 'worker', what: 'Total deadline of one attempt', usual: '15s' },
    RETRY_SCHEDULE: {
      readBy: 'worker',
      what: 'The times between the tries, each ±20 %; empty means no retries',
      usual: '5s,5m,30m,2h,5h,10h,14h,20h,24h',
    },
    CALLBACK_RETRY_SCHEDULE: {
      readBy: 'worker',
      what: 'The same for callbacks',
      usual: { without: "`RETRY_SCHEDULE`'s" },
    },
    DISABLE_AFTER: {
      readBy: 'worker',
      what: 'How long an endpoint may fail without one success before it is disabled',
      usual: '5d',
    },
  },
  'Outbound connections': {
    EGRESS_ALLOW_CIDRS: {
      readBy: 'api, worker',
      what: 'Ranges that are allowed although they are not public',
      usual: NOT_NEEDED,
    },
    EGRESS_DENY_CIDRS: {
      readBy: 'api, worker',
      what: 'Ranges that are refused although they are public, such as your own. They win over `EGRESS_ALLOW_CIDRS`',
      usual: NOT_NEEDED,
    },
    EGRESS_CA_FILE: {
      readBy: 'worker',
      what: 'A PEM file with an authority that is trusted besides the public ones',
      usual: NOT_NEEDED,
    },
    EGRESS_DNS: {
      readBy: 'worker',
      what: "Who looks up names. `servers`: Herald asks the name servers itself. `system`: the system's resolver, with its hosts file and search domains, but at most four names at a time",
      usual: 'servers',
    },
    EGRESS_DNS_SERVERS: {
      readBy: 'worker',
      what: 'Addresses of the name servers to ask',
      usual: { without: 'those of the system' },
    },
    EGRESS_PROXY_URL: {
      readBy: 'worker',
      what: 'Your own [proxy](egress.md#through-a-proxy-of-your-own), by which everything goes out, so that customers see fixed addresses',
      usual: { without: 'directly' },
    },
  },
  'Telling others': {
    NOTICE_URL: {
      readBy: 'worker',
      what: 'Where Herald tells the platform of receivers that fail, are disabled or recover ([notices](notices.md))',
      usual: { without: 'no notices' },
    },
    NOTICE_SECRET: {
      readBy: 'worker',
      what: 'The secret that signs notices. Both variables, or neither',
      usual: { without: 'no notices' },
    },
    OTEL_EXPORTER_OTLP_ENDPOINT: {
      readBy: 'api, worker',
      what: 'Collector for traces, over HTTP; the other `OTEL_EXPORTER_OTLP_…` variables and `OTEL_SERVICE_NAME` work too',
      usual: { without: 'no traces' },
    },
    TRACEPARENT_TO_RECEIVERS: {
      readBy: 'worker',
      what: "`true` sends each attempt's `traceparent` to its receiver",
      usual: 'false',
    },
    LOG_LEVEL: { readBy: 'all', what: '`error`, `warn`, `info`, `debug`', usual: 'info' },
  },
} as const satisfies Readonly<Record<string, Readonly<Partial<Record<Name, VariableText>>>>>;
