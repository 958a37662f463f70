import { newSeed, WorkspaceFullError, type DomainError, type Seed, type WorkspaceId } from '@herald/core';
import { hash } from 'node:crypto';
import { z } from 'zod';
import { ACCOUNT_LUA } from '../keys/account-lua.ts';
import { GLOBAL_KEYS, type Keyspace } from '../keys/keys.ts';
import { newRevision } from '../redis/random-token.ts';
import { defineReplicatedScript, type ReplicatedStoreDeps } from '../redis/await-replication.ts';
import { defineScript } from '../redis/script.ts';
import type { RoomDeps } from '../stats/memory-guard.ts';
import { createWorkspaceAccounts, NO_LIMITS } from '../stats/workspace-accounts.ts';

/** The scope of an `Idempotency-Key`. `path` is the concrete one, without a query. */
export type RequestName = {
  /** For whose account its answer counts: a workspace, or who else has a budget of requests. Not a part of the name. */
  readonly owner: WorkspaceId;
  readonly apiKeyId: string;
  readonly method: string;
  readonly path: string;
  readonly idempotencyKey: string;
};

/** What Redis takes of a record besides its answer. */
const RECORD_BYTES = 400;

/**
 * The answer of a request that succeeded, without its secrets. `repeated`: names of fields that stood in the request
 * too; their values are not kept.
 */
export const KeptAnswer = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.string()),
  body: z.unknown(),
  repeated: z.array(z.string()).exactOptional(),
});
export type KeptAnswer = z.infer<typeof KeptAnswer>;

/** A request's record, held by one run until its lease ends. Once another run has it, the methods do nothing. */
export type IdempotencyRecord = {
  readonly seed: Seed;
  readonly renew: () => Promise<'renewed' | 'lost'>;
  /** @throws UnavailableError when it is kept and too few replicas have it in time */
  readonly keepAnswer: (answer: KeptAnswer) => Promise<'kept' | 'lost'>;
  /** Ends the run without an answer to keep. `changed`: what the run may have changed; former ones may have, too. */
  readonly giveBack: (changed: 'nothing' | 'perhaps') => Promise<'given_back' | 'lost'>;
};

/**
 * `conflict`: the key was used for another body. `in_progress`: another run holds the record. `no_room`: the key is new,
 * and there is no room to keep an answer; nothing is left of it.
 */
type AcquireReply =
  | { readonly kind: 'acquired'; readonly record: IdempotencyRecord }
  | { readonly kind: 'answered'; readonly answer: KeptAnswer }
  | { readonly kind: 'conflict' | 'in_progress' }
  | { readonly kind: 'no_room'; readonly error: DomainError };

type IdempotencyStoreDeps = ReplicatedStoreDeps &
  RoomDeps & {
    readonly keyspace: Keyspace;
    readonly now: () => number;
    /** How long a record is held that isn't renewed, in ms. */
    readonly leaseMs: number;
    /** How long a key is kept, in ms; with an answer up to a sixty-fourth longer. */
    readonly keepMs: number;
  };

const AcquireReplyText = z.union([
  z.tuple([z.literal('acquired'), z.string(), z.string()]),
  z.tuple([z.literal('answered'), z.string()]),
  z.tuple([z.enum(['conflict', 'in_progress'])]),
]);
const RenewReply = z.enum(['renewed', 'lost']);
const KeepReply = z.enum(['kept', 'lost']);
const GiveBackReply = z.enum(['given_back', 'lost']);

/**
 * Requests with an `Idempotency-Key`, and the answers of those that succeeded. Kept answers count for the account of
 * their owner: the workspace of the caller, `platform:<key id>`, or `operators:<workspace>` for an operator's link.
 *
 * The account lies in another slot than the record, so no script writes both. The account is first: after a crash in
 * between it says too much, and gives that back at the time at which the answer would have left. A run that ended without
 * an answer leaves its seed, which nobody counts: only an outage of ours makes it.
 */
export function createIdempotencyStore(deps: IdempotencyStoreDeps) {
  const { redis, awaitReplication, keyspace, limits = NO_LIMITS, findRefusal, now, leaseMs, keepMs } = deps;
  const accounts = createWorkspaceAccounts({ redis, keyspace, now });
  const acquire = defineReplicatedScript(deps, ACQUIRE_RECORD_LUA);
  const renew = defineScript(redis, RENEW_RECORD_LUA);
  const keepAnswer = defineReplicatedScript(deps, KEEP_ANSWER_LUA);
  const giveBack = defineScript(redis, GIVE_BACK_RECORD_LUA);
  const count = defineScript(redis, COUNT_ANSWER_LUA);

  const toRecord = (key: string, token: string, seed: Seed, owner: WorkspaceId): IdempotencyRecord => ({
    seed,
    renew: async () => RenewReply.parse(await renew([key], [token, now() + leaseMs])),
    async keepAnswer(answer) {
      const text = JSON.stringify(answer);
      const bytes = RECORD_BYTES + Buffer.byteLength(text);
      const [keys, at] = [keyspace.of(owner), now()];
      const counted = await count([keys.workspaceLeaving(owner)], [keys.prefix, owner, bytes, at, keepMs]);
      const leaves = z.number().parse(counted);
      return KeepReply.parse(await keepAnswer([key], [token, text, leaves - at, owner, bytes, leaves]));
    },
    giveBack: async (changed) => GiveBackReply.parse(await giveBack([key], [token, changed])),
  });

  const findNoRoom = async (owner: WorkspaceId): Promise<DomainError | undefined> => {
    const refusal = findRefusal?.(owner);
    if (refusal) return refusal;
    const isFull = await accounts.isFull(owner, RECORD_BYTES, limits.bytes);
    return isFull ? new WorkspaceFullError('answers', limits.bytes) : undefined;
  };

  return {
    leaseMs,
    /**
     * @param fingerprint of the body; the same for bodies that count as the same
     * @throws UnavailableError when too few replicas have the record, with its seed, in time; it is then given back
     */
    async acquire(name: RequestName, fingerprint: string): Promise<AcquireReply> {
      const key = GLOBAL_KEYS.idempotencyRecord(digestOf(name));
      const token = newRevision();
      const { at, random } = newSeed(now());
      const randomText = Buffer.from(random).toString('base64');
      const args = [token, fingerprint, at, at + leaseMs, randomText, keepMs];
      const text = await acquire([key], args).catch(async (error: unknown) => {
        // This run did nothing. An earlier one may have: its seed stays.
        if (awaitReplication) await giveBack([key], [token, 'perhaps']);
        throw error;
      });
      const reply = AcquireReplyText.parse(text);
      if (reply[0] === 'answered') return { kind: 'answered', answer: KeptAnswer.parse(JSON.parse(reply[1])) };
      if (reply[0] !== 'acquired') return { kind: reply[0] };
      const seed = { at: Number(reply[1]), random: Buffer.from(reply[2], 'base64') };
      const record = toRecord(key, token, seed, name.owner);
      // A key that has run before must be answered, however full it is.
      const error = reply[2] === randomText ? await findNoRoom(name.owner) : undefined;
      if (!error) return { kind: 'acquired', record };
      await record.giveBack('nothing');
      return { kind: 'no_room', error };
    },
  };
}
export type IdempotencyStore = ReturnType<typeof createIdempotencyStore>;

/** A short name without a trace of the caller's text. Parts are length-prefixed, so no two requests read the same. */
function digestOf({ apiKeyId, method, path, idempotencyKey }: RequestName): string {
  const text = [apiKeyId, method, path, idempotencyKey].map((part) => `${part.length}:${part}`).join('');
  return hash('sha256', text, 'base64url');
}

/**
 * An idempotency record is a hash: `body` (fingerprint), `at` and `random` (the seed of all runs), `token` and `until`
 * (the present run, and the end of its lease), `again` once a second run began, and `answer` once a run succeeded, with
 * `ws` (its owner), `b` (for how many bytes it counts) and `leaves` (when they leave the account, ms). Another run may
 * acquire it after `until`.
 */
const ACQUIRE_RECORD_LUA = /* lua */ `#!lua flags=allow-oom
-- Acquire a request's record under a lease, unless another run holds it or has answered. What ends or frees comes with a
-- key, too; whatever else does is refused where there is no room.
-- KEYS[1] idempotency record (hash)
-- ARGV[1] token   ARGV[2] fingerprint of the body   ARGV[3] now (ms)   ARGV[4] end of the lease (ms)
-- ARGV[5] random part of the seed   ARGV[6] time to live (ms)
-- Returns {'acquired', at, random} (those of the first run) | {'answered', answer} | {'conflict'} | {'in_progress'}.
local body, at, random, token, ends, answer =
  unpack(redis.call('HMGET', KEYS[1], 'body', 'at', 'random', 'token', 'until', 'answer'))
if not body then
  redis.call('HSET', KEYS[1], 'body', ARGV[2], 'at', ARGV[3], 'random', ARGV[5], 'token', ARGV[1], 'until', ARGV[4])
  redis.call('PEXPIRE', KEYS[1], ARGV[6])
  return { 'acquired', ARGV[3], ARGV[5] }
end
if body ~= ARGV[2] then return { 'conflict' } end
if answer then return { 'answered', answer } end
-- The same token: the client lost the reply and sends the same call again.
if token ~= ARGV[1] then
  if tonumber(ends) > tonumber(ARGV[3]) then return { 'in_progress' } end
  redis.call('HSET', KEYS[1], 'again', 1)
end
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'until', ARGV[4])
return { 'acquired', at, random }
`;

const RENEW_RECORD_LUA = /* lua */ `#!lua flags=allow-oom
-- Extend the lease while the request runs.
-- KEYS[1] idempotency record (hash)
-- ARGV[1] token   ARGV[2] end of the lease (ms)
-- Returns 'renewed' | 'lost' (the lease had ended, and the record is gone or another run's).
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 'lost' end
redis.call('HSET', KEYS[1], 'until', ARGV[2])
return 'renewed'
`;

const KEEP_ANSWER_LUA = /* lua */ `
-- Keep the answer of a run that succeeded, unless a newer run has the record.
-- KEYS[1] idempotency record (hash)
-- ARGV[1] token   ARGV[2] answer (JSON)   ARGV[3] time to live (ms)
-- ARGV[4] owner   ARGV[5] bytes that its account has for it   ARGV[6] when they leave (ms)
-- Returns 'kept' | 'lost'.
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 'lost' end
redis.call('HSET', KEYS[1], 'answer', ARGV[2], 'ws', ARGV[4], 'b', ARGV[5], 'leaves', ARGV[6])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 'kept'
`;

const COUNT_ANSWER_LUA = /* lua */ `
-- Add an answer that will be kept to the account of its owner. If it is sent again it counts twice, until it leaves.
-- KEYS[1] what leaves the account when (hash)
-- ARGV[1] prefix   ARGV[2] owner   ARGV[3] bytes   ARGV[4] now (ms)   ARGV[5] how long it is kept at least (ms)
-- Returns when it leaves (ms).
local prefix = ARGV[1]
${ACCOUNT_LUA}
local at = timeToLeave(ARGV[4], ARGV[5])
noteBytes(ARGV[2], tonumber(ARGV[3]), at)
writeAccounts()
return at
`;

const GIVE_BACK_RECORD_LUA = /* lua */ `#!lua flags=allow-oom
-- End a run that did not succeed. When it changed nothing, the record is deleted. When it may have, or a former run may
-- have, the body and the seed stay: only the same request can run again, and it finds what was created.
-- KEYS[1] idempotency record (hash)
-- ARGV[1] token   ARGV[2] 'nothing' | 'perhaps': what the run changed
-- Returns 'given_back' | 'lost'.
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 'lost' end
if ARGV[2] == 'nothing' and redis.call('HEXISTS', KEYS[1], 'again') == 0 then
  redis.call('DEL', KEYS[1])
else
  redis.call('HSET', KEYS[1], 'token', '', 'until', 0)
end
return 'given_back'
`;
