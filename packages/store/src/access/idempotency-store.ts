import { newSeed, type Seed } from '@herald/core';
import { hash } from 'node:crypto';
import { z } from 'zod';
import { GLOBAL_KEYS } from '../keys/keys.ts';
import { newRevision } from '../redis/random-token.ts';
import { defineReplicatedScript, type ReplicatedStoreDeps } from '../redis/await-replication.ts';
import { defineScript } from '../redis/script.ts';

/** The scope of an `Idempotency-Key`. `path` is the concrete one, without a query. */
export type RequestName = {
  readonly apiKeyId: string;
  readonly method: string;
  readonly path: string;
  readonly idempotencyKey: string;
};

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

/** `conflict`: the key was used for another body. `in_progress`: another run holds the record. */
type AcquireReply =
  | { readonly kind: 'acquired'; readonly record: IdempotencyRecord }
  | { readonly kind: 'answered'; readonly answer: KeptAnswer }
  | { readonly kind: 'conflict' | 'in_progress' };

type IdempotencyStoreDeps = ReplicatedStoreDeps & {
  readonly now: () => number;
  /** How long a record is held that isn't renewed, in ms. */
  readonly leaseMs: number;
  /** How long a key is kept, in ms. */
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

/** Requests with an `Idempotency-Key`, and the answers of those that succeeded. */
export function createIdempotencyStore(deps: IdempotencyStoreDeps) {
  const { redis, awaitReplication, now, leaseMs, keepMs } = deps;
  const acquire = defineReplicatedScript(deps, ACQUIRE_RECORD_LUA);
  const renew = defineScript(redis, RENEW_RECORD_LUA);
  const keepAnswer = defineReplicatedScript(deps, KEEP_ANSWER_LUA);
  const giveBack = defineScript(redis, GIVE_BACK_RECORD_LUA);

  const toRecord = (key: string, token: string, seed: Seed): IdempotencyRecord => ({
    seed,
    renew: async () => RenewReply.parse(await renew([key], [token, now() + leaseMs])),
    keepAnswer: async (answer) => KeepReply.parse(await keepAnswer([key], [token, JSON.stringify(answer), keepMs])),
    giveBack: async (changed) => GiveBackReply.parse(await giveBack([key], [token, changed])),
  });

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
      const args = [token, fingerprint, at, at + leaseMs, Buffer.from(random).toString('base64'), keepMs];
      const text = await acquire([key], args).catch(async (error: unknown) => {
        // This run did nothing. An earlier one may have: its seed stays.
        if (awaitReplication) await giveBack([key], [token, 'perhaps']);
        throw error;
      });
      const reply = AcquireReplyText.parse(text);
      if (reply[0] === 'answered') return { kind: 'answered', answer: KeptAnswer.parse(JSON.parse(reply[1])) };
      if (reply[0] !== 'acquired') return { kind: reply[0] };
      const seed = { at: Number(reply[1]), random: Buffer.from(reply[2], 'base64') };
      return { kind: 'acquired', record: toRecord(key, token, seed) };
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
 * (the present run, and the end of its lease), `again` once a second run began, and `answer` once a run succeeded. Another
 * run may acquire it after `until`.
 */
const ACQUIRE_RECORD_LUA = /* lua */ `
-- Acquire a request's record under a lease, unless another run holds it or has answered.
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
-- Returns 'kept' | 'lost'.
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 'lost' end
redis.call('HSET', KEYS[1], 'answer', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 'kept'
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
