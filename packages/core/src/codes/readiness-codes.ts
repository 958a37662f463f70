import type { CodeTable } from './code-table.ts';

const DOCTOR = 'Run `herald doctor`: it says what to set.';

/** Every code that `/readyz` may show, in the api and in the worker. */
export const READINESS_CODES = {
  redis_away: {
    meaning: 'The connection to Redis is down.',
    action: 'Start Redis, or mend the network. The process connects again by itself.',
  },
  redis_hangs: {
    meaning: 'The connection to Redis is there, but Redis gives no answer.',
    action: 'Look at the load of Redis, and for a command that blocks it.',
  },
  redis_refuses_writes: {
    meaning: 'Redis did not take a write.',
    action: 'The sentence has the reason, such as `OOM` or `MISCONF`. The log of Redis says more.',
  },
  redis_nearly_full: {
    meaning:
      'Redis uses more than 85 % of its memory. The workspaces that hold the most are refused first (429 `workspace_full`), and from 95 % on every workspace is. In a cluster this is said of the fullest master, and only workspaces that lie on it are refused.',
    action:
      'Raise `maxmemory`. `herald queues --by-workspace` says who holds what, and `herald deliveries purge` frees it.',
  },
  redis_replica: {
    meaning: 'Redis is a replica, and loses what is written to it.',
    action: 'Connect to its master.',
  },
  redis_not_permitted: {
    meaning: 'Redis refuses commands, keys or channels that Herald needs.',
    action: DOCTOR,
  },
  redis_command_missing: {
    meaning: 'Redis no longer has all commands that Herald needs.',
    action: DOCTOR,
  },
  eviction_policy: {
    meaning: 'Redis throws data away when it is full.',
    action: 'Set `maxmemory-policy noeviction`.',
  },
  maxmemory_unset: {
    meaning: 'Redis has no memory limit: when it is full, the system kills it instead of Redis refusing writes.',
    action: 'Set `maxmemory` below what the machine has.',
  },
  persistence_off: {
    meaning: 'Redis keeps nothing on disk, and loses everything when it restarts.',
    action: 'Set `appendonly yes` and `appendfsync everysec`.',
  },
  aof_off: {
    meaning: 'Redis has no append-only file, and loses minutes when it crashes.',
    action: 'Set `appendonly yes` and `appendfsync everysec`.',
  },
  snapshots_on: {
    meaning: 'Redis writes snapshots beside the append-only file, which cost much and help nothing.',
    action: "Set `save ''`.",
  },
  snapshot_failed: {
    meaning: 'Redis could not write its last snapshot.',
    action: "Make room on its disk and in its memory, set `save ''`, and run `BGSAVE` once.",
  },
  data_lost: {
    meaning: 'The data on which the process works is gone from Redis.',
    action: 'Restore it, or stop every process and start again with an empty Redis.',
  },
  shards_unsure: {
    meaning: 'The process was away for a while, and looks first whether the data is where it was.',
    action: 'Wait a few seconds. If it stays, look at the connection to Redis.',
  },
  shards_differ: {
    meaning: 'The data is laid out for another number of shards.',
    action: 'Set `SHARDS` to the number that the sentence names.',
  },
  shards_moving: {
    meaning: 'The data is being resharded.',
    action: 'Finish with `herald shards reshard`, then start with the new `SHARDS`.',
  },
  layout_former: {
    meaning: 'The data is that of a former version.',
    action: 'Stop every process of that version, and start this one: it takes the data over.',
  },
  layout_upgrading: {
    meaning: 'The data is being taken over from a former version.',
    action: 'Wait until an API or a worker has started, or start one.',
  },
  layout_newer: {
    meaning: 'The data is laid out by a newer version.',
    action: 'Start that version.',
  },
  egress_away: {
    meaning:
      'The worker itself can send nothing: no resolver answers, no route leads out, it has no descriptors left, or it trusts no authority. Deliveries wait, and spend no try.',
    action:
      'Mend what the sentence names. The worker goes on by itself; only with an empty store of authorities it must start again.',
  },
  egress_proxy: {
    meaning: 'The proxy through which the worker sends is away, or refuses. Deliveries wait, and spend no try.',
    action: 'Start or mend the proxy, or correct `EGRESS_PROXY_URL`. The worker goes on by itself.',
  },
  no_worker: {
    meaning: 'No worker was seen lately. Transitions are accepted, and nothing is sent.',
    action: 'Start a worker.',
  },
  proxy_not_trusted: {
    meaning:
      'Requests come through a proxy, and `TRUST_PROXY` is 0. All callers share the address of the proxy, and the limits of wrong keys and sign-ins. Only the API says it, for five minutes after the last such request.',
    action:
      'Set `TRUST_PROXY` to the number of your proxies that add to `X-Forwarded-For`. If there is none in front, somebody else sends the header: nothing is believed of it.',
  },
  history_away: {
    meaning: 'PostgreSQL, where settled deliveries go, is away or refuses. They stay in Redis, and deliveries go on.',
    action:
      'Look for `history.unavailable` in the log of the workers, and mend PostgreSQL. They catch up by themselves.',
  },
  history_days_stay: {
    meaning:
      'A day that `HISTORY_RETENTION` has ended hours ago is still in the history, with its bodies: somebody reads it, such as a long `pg_dump`, or it can not be dropped.',
    action: 'See the runbook, history days stay. It is dropped by itself once nobody reads it.',
  },
  history_retention_kept: {
    meaning:
      '`HISTORY_RETENTION` was shortened by more than half. Nothing is dropped by it, since what is dropped is gone.',
    action: 'Correct it, or say that it is meant: `herald history retention --yes`.',
  },
  history_not_set: {
    meaning:
      'The data has a history, and `HISTORY_URL` is not set in this process. What settles waits in Redis, and what has moved is not shown by it.',
    action: 'Set `HISTORY_URL`, or end the history for good with `herald history forget`.',
  },
  clock_off: {
    meaning: 'The clock of the machine differs from the time of Redis by more than half a second.',
    action: 'Let both machines follow a time server.',
  },
} as const satisfies CodeTable;
