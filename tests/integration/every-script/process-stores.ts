import { createKeyspace, type Keyspace } from '@herald/store/keys/keys';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { createAwaitReplication } from '@herald/store/redis/await-replication';
import { createActivityReader } from '@herald/store/stats/activity-reader';
import { createAuditFollower, createAuditTrail } from '@herald/store/access/audit-trail';
import { createBindingStore } from '@herald/store/access/binding-store';
import { createApiKeyStore } from '@herald/store/access/api-key-store';
import { createCallbackStore } from '@herald/store/endpoints/callback-store';
import { createDeliveryLog } from '@herald/store/lists/delivery-log';
import { createDeliveryQueueScripts } from '@herald/store/deliveries/delivery-scripts';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-record';
import { createDeliveryStore } from '@herald/store/deliveries/delivery-store';
import { createEncryptedSecretStore } from '@herald/store/secrets/reencrypt-secrets';
import { createIdempotencyStore } from '@herald/store/access/idempotency-store';
import { createKeyVersionStore } from '@herald/store/secrets/key-version-store';
import { createListenerStore } from '@herald/store/listening/listeners';
import { createLogReader } from '@herald/store/lists/log-reader';
import { createWorkspaceAccounts } from '@herald/store/stats/workspace-accounts';
import { createMoveStore } from '@herald/store/bulk/move-store';
import { createPayloadEraser } from '@herald/store/tasks/payload-eraser';
import { createPortalLinkStore } from '@herald/store/access/portal-link-store';
import { createPurgeStore } from '@herald/store/bulk/purge-store';
import { createReceiverStore } from '@herald/store/endpoints/receiver-store';
import { createReplaySteps } from '@herald/store/bulk/replay-steps';
import { createReplayStore } from '@herald/store/bulk/replay-store';
import { createShardRecordStore } from '@herald/store/data/shard-record';
import { createTaskRetention } from '@herald/store/tasks/task-record';
import { createTaskStore } from '@herald/store/tasks/task-store';
import { createTestEventStore } from '@herald/store/test-events/test-event-store';
import { createTransitionStore } from '@herald/store/tasks/transition-store';
import { defineScript } from '@herald/store/redis/script';
import { createBoardQueue } from '@herald/queue/board/create-board-queue';
import { createGroupReader, createQueueStateReader } from '@herald/queue';
import { createLeases } from '../../../packages/queue/src/worker/leases.ts';
import { createPause } from '../../../packages/queue/src/backend-base.ts';
import { createReserve } from '../../../packages/queue/src/worker/reserve.ts';
import { LIMIT, RETENTION_MS } from '../engine/start-engine.ts';

export const DAY_MS = 86_400_000;
/** Short, so that it is full soon. */
export const AUDIT_LENGTH = 3;
export type ProcessStores = ReturnType<typeof createProcessStores>;

export type ProcessOptions = {
  readonly redis: RedisClient;
  readonly keyspace?: Keyspace;
  readonly hasHistory: boolean;
  readonly now: () => number;
};

/** Everything through which one process reads and writes Redis, in the first shard. */
export function createProcessStores({ redis, keyspace = createKeyspace(1), hasHistory, now }: ProcessOptions) {
  const [keys] = keyspace.shards;
  if (!keys) throw new Error('there is always a first shard');
  const retention = createDeliveryRetention(RETENTION_MS, hasHistory);
  const taskRetention = createTaskRetention(30 * DAY_MS);
  const define = (_name: string, lua: string) => defineScript(redis, lua);
  const { loadLua, readRows } = createDeliveryQueueScripts();
  const access = { prefix: keys.prefix, defineScript: define, now };
  const nowhere = () => Promise.reject(new Error('no test of this harness asks for it'));
  return {
    redis,
    keys,
    receivers: createReceiverStore({ redis, keyspace }),
    callbacks: createCallbackStore({ redis, keyspace }),
    tasks: createTaskStore({ redis, keyspace, retention: taskRetention, now }),
    transitions: createTransitionStore({ redis, keyspace, taskRetention, deliveryRetention: retention, now }),
    deliveries: createDeliveryStore({ redis, keys, retention }),
    log: createDeliveryLog({ redis, keyspace }),
    logs: createLogReader(redis),
    testEvents: createTestEventStore({ redis, keyspace, retention }),
    replays: createReplayStore({ redis, keyspace, keepMs: RETENTION_MS }),
    steps: createReplaySteps({ redis, keys, keepMs: RETENTION_MS }),
    purges: createPurgeStore({ redis, keys, retention }),
    accounts: createWorkspaceAccounts({ redis, keyspace, now }),
    moves: createMoveStore({ redis, keys, now }),
    eraser: (history?: Parameters<typeof createPayloadEraser>[0]['history']) =>
      createPayloadEraser({ redis, keyspace, retention, history }),
    keyVersions: createKeyVersionStore({ redis, keyspace }),
    secrets: createEncryptedSecretStore({ redis, keyspace }),
    listeners: createListenerStore({ redis, keyspace }),
    idempotency: createIdempotencyStore({ redis, keyspace, now, leaseMs: 30_000, keepMs: DAY_MS }),
    bindings: createBindingStore({ redis, keyspace, now }),
    portalLinks: createPortalLinkStore({ redis, keyspace, now: Date.now }),
    apiKeys: createApiKeyStore({ redis, now }),
    auditFollower: createAuditFollower({ redis, keys }),
    audit: createAuditTrail({ redis, keyspace, length: AUDIT_LENGTH, now }),
    activity: createActivityReader({ redis, keyspace }),
    shardRecord: createShardRecordStore(redis),
    /** Of no replica at all. */
    awaitReplication: createAwaitReplication({ redis, minReplicas: 0 }),
    reserve: createReserve(define, keys.queue, loadLua, readRows),
    leases: createLeases({ ...access, groupLimit: LIMIT, loadLua }),
    pause: createPause(define, keys.queue),
    groups: createGroupReader(access),
    readQueueState: createQueueStateReader(access),
    board: createBoardQueue('deliveries', {
      ...access,
      workerConnection: 'worker-wait',
      jobs: {
        find: () => Promise.resolve(undefined),
        readLogs: nowhere,
        retry: nowhere,
        promote: nowhere,
        failed: { count: nowhere, list: nowhere },
        listClients: nowhere,
      },
    }),
  };
}
