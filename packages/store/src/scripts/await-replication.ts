import { UnavailableError } from '@herald/core';
import { z } from 'zod';
import { Cluster } from 'ioredis';
import type { RedisClient } from '../redis/connect-redis.ts';

/** What a write left, by which it can be seen whether a server has it: a key, a field of a hash, or that a key is gone. */
export type WriteProof = { readonly key: string; readonly field?: string; readonly isGone?: true };

/** Whether enough replicas have what was written. False: it may be there all the same, and whoever asked for it asks again. */
export type AwaitReplication = (proof: WriteProof) => Promise<boolean>;

export type AwaitReplicationDeps = {
  /** A connection of its own: waiting occupies it. */
  readonly redis: RedisClient;
  /** Replicas that must have a write, at least 1. */
  readonly minReplicas: number;
  /** How long they may take, in ms. */
  readonly withinMs?: number;
};

const WITHIN_MS = 1_000;
const MARK_TTL_MS = 60_000;

type Waiting = {
  readonly proof: WriteProof;
  readonly resolve: (isReplicated: boolean) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Waits until replicas have what was written. `WAIT` speaks of its own connection's writes alone, so each round looks whether
 * what was written is there, writes a mark behind it, and waits for the mark: a server that has the mark has all that
 * was there before. A failover in between shows too, because the look, the mark and the wait go to one server in one go; what
 * the new master never got isn't seen. One round at a time, of a cluster's slot or of the one server, for all who ask meanwhile.
 */
export function createAwaitReplication({
  redis,
  minReplicas,
  withinMs = WITHIN_MS,
}: AwaitReplicationDeps): AwaitReplication {
  const waitingByTag = new Map<string, Waiting[]>();
  const tagOf = redis instanceof Cluster ? hashTagOf : () => 'herald';

  const lookAndWait = async (tag: string, proofs: readonly WriteProof[]): Promise<boolean[]> => {
    const pipeline = redis.pipeline();
    for (const { key, field } of proofs) {
      if (field === undefined) pipeline.exists(key);
      else pipeline.hexists(key, field);
    }
    pipeline.set(`{${tag}}:mark`, '1', 'PX', MARK_TTL_MS).wait(minReplicas, withinMs);
    const replies = ((await pipeline.exec()) ?? []).map(([error, reply]) => {
      if (error) throw error;
      return reply;
    });
    const replicas = z.number().parse(replies.at(-1));
    return proofs.map(({ isGone }, index) => replicas >= minReplicas && replies[index] === (isGone ? 0 : 1));
  };

  const goRounds = async (tag: string, waiting: Waiting[]): Promise<void> => {
    while (waiting.length > 0) {
      const round = waiting.splice(0);
      try {
        const replicated = await lookAndWait(
          tag,
          round.map(({ proof }) => proof),
        );
        for (const [index, { resolve }] of round.entries()) resolve(replicated[index] === true);
      } catch (error) {
        for (const { reject } of round) reject(error);
      }
    }
    waitingByTag.delete(tag);
  };

  return async function awaitReplication(proof) {
    return await new Promise<boolean>((resolve, reject) => {
      const tag = tagOf(proof.key);
      const waiting = waitingByTag.get(tag);
      if (waiting) {
        waiting.push({ proof, resolve, reject });
        return;
      }
      const first = [{ proof, resolve, reject }];
      waitingByTag.set(tag, first);
      // After this turn: those that are asked for together share the round.
      setImmediate(() => void goRounds(tag, first));
    });
  };
}

/**
 * Waits until a write is replicated; without `awaitReplication` nobody asks for that.
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

/** What of a key decides its slot. */
export function hashTagOf(key: string): string {
  return /\{([^}]+)\}/.exec(key)?.[1] ?? key;
}
