import { globSync, readFileSync } from 'node:fs';
import { readOpenApiDocument } from '../reference/openapi.ts';

const TESTS = [
  '{packages,apps}/*/src/**/*.test.{ts,tsx}',
  'scripts/**/*.test.ts',
  'chaos/**/*.ts',
  'tests/{e2e,integration,soak,support}/**/*.ts',
];
const OWN = 'scripts/suite/every-name.test.ts';

/** Names of a page's table or list. Other tests hold these pages against the code: what is new is on them. */
const namesOn = (page: string, pattern: RegExp): readonly string[] => {
  const found = [...readFileSync(`docs/${page}`, 'utf8').matchAll(pattern)].map(([, name = '']) => name);
  return [...new Set(found)].sort();
};

/** A word of its own: `redis.stuck` is not in `redis.stuck_again`. */
const isWord = (name: string, text: string) =>
  new RegExp(`(?<![\\w.])${name.replaceAll('.', '\\.')}(?!\\w|\\.\\w)`).test(text);

type Table = {
  readonly what: string;
  readonly names: () => readonly string[];
  readonly isNamed?: (name: string, text: string) => boolean;
  /** Names that no test has. None may be added; one that a test has by now must leave. */
  readonly unnamed: readonly string[];
};

const TABLES: readonly Table[] = [
  {
    what: 'operation',
    names: () =>
      [...JSON.stringify(readOpenApiDocument().paths).matchAll(/"operationId":"(\w+)"/g)].map(([, id = '']) => id),
    unnamed: [],
  },
  {
    what: 'command',
    names: () => namesOn('cli.md', /^\| \[`([a-z -]+)`\]\(#/gm),
    isNamed: (name, text) =>
      [`herald ${name}`, `'${name.replaceAll(' ', "', '")}'`].some((typed) => text.includes(typed)),
    unnamed: [],
  },
  {
    what: 'variable',
    names: () => namesOn('configuration.md', /^\| `([A-Z_]+)`/gm),
    unnamed: ['RUNBOOK_URL'],
  },
  {
    what: 'metric',
    names: () => namesOn('metrics.md', /^\| `(herald_\w+)`/gm),
    unnamed: [
      'herald_deliveries_replayed_total',
      'herald_delivery_latency_seconds',
      'herald_history_damaged_total',
      'herald_history_failures_total',
      'herald_history_moved_total',
      'herald_history_oldest_waiting_seconds',
      'herald_history_retention_seconds',
      'herald_history_unavailable_total',
      'herald_http_request_duration_seconds',
      'herald_maintenance_failures_total',
      'herald_queue_errors_total',
      'herald_redis_errors_total',
      'herald_redis_memory_limit_bytes',
      'herald_redis_memory_used_bytes',
      'herald_redis_reconnects_total',
      'herald_replays_running',
      'herald_replays_total',
      'herald_send_duration_seconds',
      'herald_transitions_refused_total',
    ],
  },
  {
    what: 'log event',
    names: () => namesOn('logs.md', /^\| `([a-z_]+\.[a-z_.]+)` +\|/gm),
    unnamed: [
      'clock.redis_jumped',
      'delivery.body_lost',
      'delivery.internal_error',
      'egress.recovered',
      'endpoint.breaker_closed',
      'endpoint.pending_canceled',
      'history.damaged_record',
      'history.days_dropped',
      'listen.ended',
      'listen.publish_failed',
      'listen.revocation_not_told',
      'process.release_failed',
      'process.stop_failed',
      'process.stopped',
      'queue.error',
      'redis.error',
      'redis.finding',
      'redis.stuck',
      'request.unavailable',
      'shards.look_failed',
      'test_event.created',
      'test_event.unanswered',
      'transition.refused',
      'transition.repeated',
      'transition.unreplicated',
      'worker.presence_failed',
      'worker.started',
    ],
  },
  {
    what: 'error code',
    names: () => namesOn('errors.md', /^- \*\*`([a-z_]+)`\*\*/gm),
    // The last two are of attempts that former releases made.
    unnamed: ['payload_not_kept', 'timeout_body', 'tls_untrusted'],
  },
];

const text = TESTS.flatMap((pattern) => globSync(pattern))
  .filter((file) => file !== OWN)
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

test.each(TABLES)('every $what is named by a test', ({ names, isNamed = isWord, unnamed }) => {
  const all = names();
  expect(all.length).toBeGreaterThan(15);
  expect(all.filter((name) => !isNamed(name, text))).toEqual(unnamed);
});
