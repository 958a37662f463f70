import { deliveryIdOf, isCallbackId, PLATFORM, transitionIdOfFact } from '@herald/core';
import {
  createKeyspace,
  GLOBAL_KEYS,
  PLATFORM_OWNER,
  readFactValue,
  readScoredIds,
  type ShardKeys,
} from '@herald/store/keys/keys';
import { readKeyName } from '@herald/store/keys/key-name';
import { COUNTED_TASK_FIELDS } from '@herald/store/keys/account-lua';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { findFaults, idOf, readQueue } from '../queue/read-queue.ts';

/**
 * What is wrong in the first shard of a Redis, as sentences: in the queue, and with what was promised. A fact that a
 * Task knows has its transition, a transition has its deliveries, and each that is pending is in the queue.
 * @param hasHistory what has settled may have left
 */
export async function findHarm(redis: RedisClient, hasHistory = false): Promise<readonly string[]> {
  const [keys] = createKeyspace(1).shards;
  if (!keys) throw new Error('there is always a first shard');
  const { prefix, queue } = keys;
  const harm = [...(await findFaults({ redis, keys: queue }))];
  const groups = await readQueue({ redis, keys: queue });
  const queued = new Set(
    [...groups.values()].flatMap(({ waiting, leases }) => [...waiting.keys(), ...leases.map(idOf)]),
  );
  const facts = hasHistory ? [] : await redis.keys(`${prefix}t:*:facts`);
  for (const key of facts) {
    const taskId = key.slice(prefix.length + 2, -':facts'.length);
    for (const [fact, value] of Object.entries(await redis.hgetall(key))) {
      const id = readFactValue(value).sequence > 0 ? transitionIdOfFact(taskId, fact) : undefined;
      if (id !== undefined && (await redis.exists(keys.transition(id))) === 0)
        harm.push(`${fact} is known, and has no transition`);
    }
  }
  for (const key of await redis.keys(`${prefix}trn_*`)) {
    const id = key.slice(prefix.length);
    const { eps, open } = await redis.hgetall(key);
    let pending = 0;
    for (const endpointId of eps?.split(',') ?? []) {
      const delivery = deliveryIdOf(id, endpointId);
      const { s: status, owe } = await redis.hgetall(keys.delivery(delivery));
      if (status === undefined && !hasHistory) harm.push(`${id} has no delivery to ${endpointId}`);
      if (status === 'pending') pending++;
      if ((status === 'pending' || owe !== undefined) && !queued.has(delivery)) harm.push(`${delivery} waits nowhere`);
    }
    if (open !== undefined && Number(open) !== pending) harm.push(`${id} counts ${open} pending and has ${pending}`);
  }
  return [...harm, ...(await findEndedFaults(redis, keys)), ...(await findAccountFaults(redis, keys))];
}

/** What the logs of failed and of canceled deliveries lack, or have and should not, by a walk over all deliveries. */
export async function findEndedFaults(redis: RedisClient, keys: ShardKeys): Promise<string[]> {
  const listed = new Map<string, string[]>();
  for (const key of await redis.keys(`${keys.prefix}*`)) {
    const name = readKeyName(key);
    const isPart = name?.kind === 'endedLog' || (name?.kind === 'endedPart' && !key.endsWith(':segments'));
    if (!isPart) continue;
    const log = keys.prefix + name.id;
    for (const id of await redis.zrange(key, 0, '-1')) listed.set(id, [...(listed.get(id) ?? []), log]);
  }
  const faults: string[] = [];
  for (const key of await redis.keys(`${keys.prefix}dlv_*`)) {
    const name = readKeyName(key);
    if (name?.kind !== 'delivery') continue;
    const { x = '', e = '', s: status } = await redis.hgetall(key);
    const workspaceId = await redis.hget(keys.transition(x), 'ws');
    const log = isCallbackId(e) ? keys.callbackLog(workspaceId ?? '') : keys.endpointLog(e);
    const isEnded = (status === 'failed' || status === 'canceled') && e !== PLATFORM && workspaceId !== null;
    const expected = isEnded ? [keys.endedLog(log, status)] : [];
    const found = listed.get(name.id) ?? [];
    if (found.join() !== expected.join())
      faults.push(`${name.id} is ${status ?? 'gone'} and stands in ${found.join() || 'no log'} of what ended`);
  }
  return faults;
}

/** What the accounts of workspaces say wrongly, by a walk over all Tasks, callbacks, transitions and kept answers. */
export async function findAccountFaults(redis: RedisClient, keys: ShardKeys): Promise<string[]> {
  const { prefix } = keys;
  const counted = await readAccounts(redis, keys);
  const walked = new Map<string, { pending: number; bytes: number; leaving: Map<string, number> }>();
  const faults: string[] = [];
  const note = async (key: string, workspaceId: string, pending: number, bytes: number, leaves?: number) => {
    const account = walked.get(workspaceId) ?? { pending: 0, bytes: 0, leaving: new Map<string, number>() };
    walked.set(workspaceId, account);
    account.pending += pending;
    account.bytes += bytes;
    const ends = leaves ?? (await redis.pexpiretime(key));
    // A key that has moved to another node ends some milliseconds later.
    const known = [...(counted.get(workspaceId)?.leaving.keys() ?? [])].find(
      (at) => Math.abs(Number(at) - ends) < 1_000,
    );
    const at = known ?? String(ends);
    if (ends > 0) account.leaving.set(at, (account.leaving.get(at) ?? 0) + bytes);
  };
  for (const key of await redis.keys(`${prefix}trn_*`)) {
    const { ws, ev, eps = '', body = '', open, b } = await redis.hgetall(key);
    if (ws === undefined || ev === undefined || ws.endsWith(PLATFORM_OWNER)) continue;
    const ids = eps.split(',').map((endpointId) => deliveryIdOf(key.slice(prefix.length), endpointId));
    const attempts = (await Promise.all(ids.map((id) => redis.lrange(keys.attempts(id), 0, -1)))).flat();
    const bytes = 400 + 600 * ids.length + 64 * attempts.length + sizeOf([body, ...attempts]);
    if (Number(b) !== bytes) faults.push(`${key} takes ${bytes} bytes and says ${b ?? 'nothing'}`);
    await note(key, ws, Number(open), bytes);
  }
  for (const key of await redis.keys(`${prefix}t:*`)) {
    if (key.split(':').length > 3) continue;
    const { ws = '', b, messageBytes: _, ...fields } = await redis.hgetall(key);
    const messages = await redis.lrange(`${key}:messages`, 0, -1);
    const maps = await Promise.all(['facts', 'decisions'].map((part) => redis.hgetall(`${key}:${part}`)));
    const entries = [...maps.flatMap((map) => Object.entries(map)), ...messages.map((text) => ['', text] as const)];
    const texts = [...COUNTED_TASK_FIELDS.map((name) => fields[name] ?? ''), ...entries.flat()];
    const bytes = 1_000 + 64 * entries.length + sizeOf(texts);
    if (Number(b) !== bytes) faults.push(`${key} takes ${bytes} bytes and says ${b ?? 'nothing'}`);
    await note(key, ws, 0, bytes);
  }
  for (const key of await redis.keys(`${prefix}e:cb_*`)) {
    if (readKeyName(key)?.kind !== 'endpoint') continue;
    const { ws = '', b, url = '', hdr = '', hdrOf = '' } = await redis.hgetall(key);
    const bytes = 1_000 + sizeOf([url, url, hdr, hdrOf]);
    if (Number(b) !== bytes) faults.push(`${key} takes ${bytes} bytes and says ${b ?? 'nothing'}`);
    await note(key, ws, 0, bytes);
  }
  for (const key of await redis.keys(GLOBAL_KEYS.idempotencyRecord('*'))) {
    const { ws, b, answer = '', leaves } = await redis.hgetall(key);
    if (ws === undefined) continue;
    const bytes = Buffer.byteLength(answer) + 400;
    if (Number(b) !== bytes) faults.push(`${key} takes ${bytes} bytes and says ${b ?? 'nothing'}`);
    await note(key, ws, 0, bytes, Number(leaves));
  }
  for (const workspaceId of new Set([...walked.keys(), ...counted.keys()])) {
    const [known, found] = [counted, walked].map((accounts) => {
      const { pending = 0, bytes = 0, leaving = new Map<string, number>() } = accounts.get(workspaceId) ?? {};
      return JSON.stringify({ pending, bytes, leaving: [...leaving].sort() });
    });
    if (known !== found) faults.push(`the account of ${workspaceId} is ${known ?? ''}, and it holds ${found ?? ''}`);
  }
  for (const [workspaceId, { leaving }] of counted) {
    const lookAt = Number((await redis.zscore(keys.leaving, workspaceId)) ?? Infinity);
    if (lookAt > Math.min(...[...leaving.keys()].map(Number))) faults.push(`nobody looks what leaves ${workspaceId}`);
  }
  return faults;
}

function sizeOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

async function readAccounts(redis: RedisClient, keys: ShardKeys) {
  const [pending = new Map<string, number>(), held = new Map<string, number>()] = await Promise.all(
    [keys.pending, keys.held].map(async (key) => {
      const members = readScoredIds(await redis.zrange(key, 0, '-1', 'WITHSCORES'));
      return new Map(members.map(({ id, score }) => [id, score]));
    }),
  );
  const accounts = new Map<string, { pending: number; bytes: number; leaving: Map<string, number> }>();
  for (const workspaceId of new Set([...pending.keys(), ...held.keys()])) {
    const leaving = Object.entries(await redis.hgetall(keys.workspaceLeaving(workspaceId)));
    accounts.set(workspaceId, {
      pending: pending.get(workspaceId) ?? 0,
      bytes: held.get(workspaceId) ?? 0,
      leaving: new Map(leaving.map(([at, bytes]) => [at, Number(bytes)])),
    });
  }
  return accounts;
}
