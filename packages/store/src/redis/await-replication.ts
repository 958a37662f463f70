import { UnavailableError } from '@herald/core';
import { Cluster } from 'ioredis';
import { z } from 'zod';
import type { RedisClient } from './connect-redis.ts';
import { randomToken } from './random-token.ts';
import { addScript, defineScript, type Script } from './script.ts';

/** Shows whether a server has a write: by a key, by a field of a hash, or by the absence of a key. */
export type WriteProof = {
  readonly key: string;
  readonly field?: string;
  /** The field must be a number that is at least this. */
  readonly least?: number;
  readonly isGone?: true;
};

/** Whether enough replicas have a write. False: they may have it all the same, and the client should try again. */
export type AwaitReplication = (proof: WriteProof) => Promise<boolean>;

type AwaitReplicationDeps = {
  /** A connection of its own: waiting occupies it. */
  readonly redis: RedisClient;
  /** Replicas that must have a write, at least 1. */
  readonly minReplicas: number;
  /** How long they may take, in ms. */
  readonly withinMs?: number;
};

const WITHIN_MS = 1_000;
const MARK_TTL_MS = 60_000;

const MARK_LUA = /* lua */ `#!lua flags=allow-oom
-- Write the mark that replicas are asked for, also when Redis is full: what ends or frees waits for them as all else does.
-- KEYS[1] mark (string)   ARGV[1] time to live (ms)
-- Returns nothing.
redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])
`;

type Waiting = WriteProof & PromiseWithResolvers<boolean>;

/**
 * Waits until replicas have a write. `WAIT` covers only the writes of its own connection. So each round looks for the
 * proofs, writes a mark behind them, and waits for the mark: a server with the mark has everything from before it. All
 * three go to one server together, so a failover shows, too: the new master lacks the proof of what it never got. One
 * round at a time runs for a cluster's slot, or for the one server. Calls meanwhile share the next round.
 */
export function createAwaitReplication(deps: AwaitReplicationDeps): AwaitReplication {
  const { redis, minReplicas, withinMs = WITHIN_MS } = deps;
  const waitingByTag = new Map<string, Waiting[]>();
  const tagOf = redis instanceof Cluster ? hashTagOf : () => 'herald';

  const lookAndWait = async (tag: string, proofs: readonly WriteProof[]): Promise<boolean[]> => {
    const pipeline = redis.pipeline();
    for (const { key, field } of proofs) {
      if (field === undefined) pipeline.exists(key);
      else pipeline.hget(key, field);
    }
    addScript(pipeline, MARK_LUA, [`{${tag}}:mark`], [MARK_TTL_MS]).wait(minReplicas, withinMs);
    const replies = ((await pipeline.exec()) ?? []).map(([error, reply]) => {
      if (error) throw error;
      return reply;
    });
    const replicas = z.number().parse(replies.at(-1));
    return proofs.map((proof, index) => replicas >= minReplicas && proves(proof, replies[index]));
  };

  const goRounds = async (tag: string, waiting: Waiting[]): Promise<void> => {
    while (waiting.length > 0) {
      const round = waiting.splice(0);
      try {
        const replicated = await lookAndWait(tag, round);
        for (const [index, { resolve }] of round.entries()) resolve(replicated[index] === true);
      } catch (error) {
        for (const { reject } of round) reject(error);
      }
    }
    waitingByTag.delete(tag);
  };

  return (proof) => {
    const asked = { ...proof, ...Promise.withResolvers<boolean>() };
    const tag = tagOf(proof.key);
    const waiting = waitingByTag.get(tag);
    if (waiting) waiting.push(asked);
    else {
      const first = [asked];
      waitingByTag.set(tag, first);
      // After this turn, so that its calls share the round.
      setImmediate(() => void goRounds(tag, first));
    }
    return asked.promise;
  };
}

/** Whether a server that answered this has the write. */
function proves({ field, least, isGone }: WriteProof, reply: unknown): boolean {
  if (field === undefined) return reply === (isGone ? 0 : 1);
  return typeof reply === 'string' && (least === undefined || Number(reply) >= least);
}

/**
 * Waits until a write is replicated. Does nothing without `awaitReplication`.
 * @throws UnavailableError when too few replicas have it in time
 */
export async function demandReplicated(
  awaitReplication: AwaitReplication | undefined,
  proof: WriteProof,
): Promise<void> {
  if (!awaitReplication || (await awaitReplication(proof))) return;
  throw new UnavailableError(
    'too few replicas of Redis have this yet, though it may have been done; ask again, with the same Idempotency-Key where you gave one',
  );
}

/** The part of a key that decides its slot. */
function hashTagOf(key: string): string {
  return /\{([^}]+)\}/.exec(key)?.[1] ?? key;
}

/** The dependencies of a store whose writes are acknowledged. */
export type ReplicatedStoreDeps = {
  readonly redis: RedisClient;
  /** Absent: writes don't wait for replicas, and carry no proof. */
  readonly awaitReplication?: AwaitReplication | undefined;
};

/** How long a proof is kept, in ms. */
const PROOF_TTL_MS = 60_000;

/**
 * A script whose reply comes only once replicas have what it wrote and what it saw, also when an earlier run had done
 * it all. In the same step it writes a proof, a key of this run alone. A server has the proof only if the script ran
 * there, or on the server that it follows. The call throws UnavailableError when too few replicas have it in time; the
 * write may stand then.
 */
export function defineReplicatedScript({ redis, awaitReplication }: ReplicatedStoreDeps, lua: string): Script {
  if (!awaitReplication) return defineScript(redis, lua);
  const proof = `redis.call('SET', KEYS[#KEYS], '', 'PX', ${PROOF_TTL_MS})\n`;
  // Flags stand in the first line.
  const script = defineScript(
    redis,
    lua.replace(/^(?:#!.*\n)?/, (flags) => flags + proof),
  );
  return async (keys, args) => {
    const key = `{${hashTagOf(keys[0] ?? '')}}:receipt:${randomToken()}`;
    const reply = await script([...keys, key], args);
    await demandReplicated(awaitReplication, { key });
    return reply;
  };
}
