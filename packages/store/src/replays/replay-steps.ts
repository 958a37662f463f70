import type { HistoryReader } from '@herald/core';
import { z } from 'zod';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { ShardKeys } from '../keys/keys.ts';
import type { RoomDeps } from '../stats/memory-guard.ts';
import { NO_LIMITS } from '../stats/workspace-accounts.ts';
import { CLAIM_IDS_LUA, defineScript } from '../redis/script.ts';
import { createFindReplayed } from './find-replayed.ts';
import { STEP_REPLAY_LUA } from './replay-scripts.ts';

/** Deliveries that one step looks at: Redis does nothing else for about a ms. */
export const REPLAY_STEP = 20;
/** A replay pauses while more deliveries than this are due in its group. */
const DUE_LIMIT = 500;

export type ReplayStepsDeps = {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  readonly keepMs: number;
  /** Absent: nothing leaves Redis but what is over. */
  readonly history?: HistoryReader | undefined;
} & RoomDeps;

const Ids = z.array(z.string());
const StepReply = z.tuple([z.enum(['stepped', 'wait', 'ended']), z.number()]);

/** The work of a worker on the replays of one shard. */
export function createReplaySteps({ redis, keys, keepMs, history, limits = NO_LIMITS, findRefusal }: ReplayStepsDeps) {
  const claim = defineScript(redis, CLAIM_IDS_LUA);
  const step = defineScript(redis, STEP_REPLAY_LUA);
  const findReplayed = history && createFindReplayed({ redis, keys, history });
  return {
    /**
     * Takes replays to carry on; another worker gets them only after `leaseEndsAt` (epoch ms). A worker that isn't told of the
     * data's history gets none: it would leave out what has moved.
     */
    async claim(now: number, leaseEndsAt: number, limit: number): Promise<readonly string[]> {
      if (!history && (await redis.exists(keys.history)) === 1) return [];
      return Ids.parse(await claim([keys.replays], [now, leaseEndsAt, limit]));
    },
    /**
     * `replayed`: deliveries that the step set pending.
     * @throws HistoryUnavailableError; the replay goes on when history is back
     */
    async step(id: string, now: number) {
      const found = findReplayed ? await findReplayed(id, REPLAY_STEP) : [];
      const workspaceId = findRefusal && (await redis.hget(keys.replay(id), 'ws'));
      const isRefused = workspaceId != null && findRefusal?.(workspaceId) !== undefined;
      const room = JSON.stringify({ ...limits, isRefused });
      const args = [keys.prefix, id, now, REPLAY_STEP, DUE_LIMIT, keepMs, room, ...found];
      const [kind, replayed] = StepReply.parse(await step([keys.replay(id), keys.replays], args));
      return { kind, replayed };
    },
  };
}
export type ReplaySteps = ReturnType<typeof createReplaySteps>;
