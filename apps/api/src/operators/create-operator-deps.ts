import type { OperatorConfig } from '@herald/config/operator-env';
import { createAuditTrail, type AuditHistory } from '@herald/store/audit/audit-trail';
import type { HistoryReader } from '@herald/core';
import type { Keyspace } from '@herald/store/keyspace/keys';
import { createGroupView } from '@herald/store/operators/group-view';
import { createFailedView } from '@herald/store/operators/failed-view';
import { createMemoryTrend } from '@herald/store/operators/memory-trend';
import { createSearch } from '@herald/store/operators/search';
import type { Readiness } from '@herald/store/readiness/create-readiness';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import type { ServiceState } from '@herald/store/service-state/create-service-state-reader';
import { createProcessPresence } from '@herald/store/shards/process-presence';
import { createStatsReader } from '@herald/store/stats/stats-reader';
import { createOperatorReads } from './api/operator-reads.ts';
import { createReadOverview } from './api/read-overview.ts';

export type OperatorDepsOptions = {
  readonly operator: OperatorConfig;
  /** Apart from the connection of requests. */
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  /** Entries of the audit trail that a shard keeps. */
  readonly length: number;
  /** How long a settled record is kept, in ms. */
  readonly keepMs: number;
  readonly readServiceState: () => Promise<ServiceState>;
  readonly readReadiness: () => Promise<Readiness>;
  /** Absent: nothing leaves Redis but what is over. */
  readonly history?: (HistoryReader & AuditHistory) | undefined;
  /** Epoch ms. */
  readonly now: () => number;
};

/** What the operator pages are made of. */
export function createOperatorDeps({ operator, readServiceState, ...shared }: OperatorDepsOptions) {
  const { redis, readReadiness, now } = shared;
  const failed = createFailedView(shared);
  return {
    operator,
    redis,
    readOverview: createReadOverview({
      readServiceState,
      readReadiness,
      processes: createProcessPresence(redis, now),
      stats: createStatsReader(shared),
      failed,
      noteMemory: createMemoryTrend(),
      now,
    }),
    reads: createOperatorReads({
      groups: createGroupView(shared),
      failed,
      search: createSearch(shared),
      trail: createAuditTrail(shared),
      now,
    }),
  };
}
export type OperatorDeps = ReturnType<typeof createOperatorDeps>;
