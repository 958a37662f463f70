import { z } from 'zod';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { ShardKeys } from '../keyspace/keys.ts';
import { CLAIM_IDS_LUA } from '../scripts/claim-script.ts';
import { defineScript } from '../scripts/script.ts';
import { STEP_REPLAY_LUA } from './replay-scripts.ts';

/** Deliveries looked at in one step. */
const STEP = 100;
/** Deliveries that wait in the group, above which a replay waits: more would only lie there. */
const WAITING_LIMIT = 500;

/** What came of a step, and how many deliveries it set pending. */
export type ReplayStep = { readonly kind: 'stepped' | 'wait' | 'ended'; readonly replayed: number };

/** What a worker does for the replays of one shard. */
export type ReplaySteps = {
  /** Takes replays to carry on; another worker gets them only after `leaseEndsAt` (epoch ms). */
  readonly claim: (now: number, leaseEndsAt: number, limit: number) => Promise<readonly string[]>;
  readonly step: (id: string, now: number) => Promise<ReplayStep>;
};

export type ReplayStepsDeps = { readonly redis: RedisClient; readonly keys: ShardKeys; readonly keepMs: number };

const StepReply = z.tuple([z.enum(['stepped', 'wait', 'ended']), z.number()]);

export function createReplaySteps({ redis, keys, keepMs }: ReplayStepsDeps): ReplaySteps {
  const claim = defineScript(redis, 'claimReplays', CLAIM_IDS_LUA);
  const step = defineScript(redis, 'stepReplay', STEP_REPLAY_LUA);
  return {
    async claim(now, leaseEndsAt, limit) {
      return z.array(z.string()).parse(await claim([keys.replays], [now, leaseEndsAt, limit]));
    },
    async step(id, now) {
      const reply = await step([keys.replay(id), keys.replays], [keys.prefix, id, now, STEP, WAITING_LIMIT, keepMs]);
      const [kind, replayed] = StepReply.parse(reply);
      return { kind, replayed };
    },
  };
}
