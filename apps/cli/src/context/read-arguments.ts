import { ID_PATTERNS, readDuration, WorkspaceIdText } from '@herald/core';
import { SHARD_LIMIT } from '@herald/store/keyspace/shards';
import { InvalidArgumentError } from 'commander';

export function readWorkspace(text: string): string {
  const parsed = WorkspaceIdText.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(parsed.error.issues[0]?.message ?? 'is not a workspace id');
}

/** An id of Herald's own, such as `wh_…`: a wrong one is told apart from one that isn't there. */
export function readId(thing: keyof typeof ID_PATTERNS, example: string) {
  return (text: string): string => {
    if (ID_PATTERNS[thing].test(text)) return text;
    throw new InvalidArgumentError(`must be the id of a ${thing}, such as ${example}`);
  };
}

export const readReceiverId = readId('receiver', 'wh_01m7wyndtadddfeszmz5b3xx5r');
export const readDeliveryId = readId('delivery', 'dlv_ixeizp4snsuommspdcs6oacmpu52wjbz');
export const readReplayId = readId('replay', 'rpl_00112233445566778899aabb');
export const readTaskId = readId('task', 'task_01m7wyndw5y43hayb4b4kprxx8');

const CALLBACK_ID = /^cb_[0-9a-hjkmnp-tv-z]{26}$/;

/** A receiver's id, or a callback's. */
export function readEndpointId(text: string): string {
  return CALLBACK_ID.test(text) ? text : readReceiverId(text);
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

/** A time, or how long ago it was: `2030-01-31T12:00:00Z`, `2h`. Epoch ms. */
export function readTime(now: () => number) {
  return (text: string): number => {
    const agoMs = readDuration(text);
    if (agoMs !== undefined) return now() - agoMs;
    const at = INSTANT.test(text) ? Date.parse(text) : NaN;
    if (!Number.isNaN(at)) return at;
    throw new InvalidArgumentError('must be how long ago, such as 2h or 3d, or a time such as 2030-01-31T12:00:00Z');
  };
}

/** One of a list, or several of it separated by commas. */
export function readListOf<Item extends string>(items: readonly Item[]) {
  return (text: string): Item[] => {
    const named = text.split(',');
    const found = items.filter((item) => named.includes(item));
    if (found.length === named.length) return found;
    throw new InvalidArgumentError(`must be of ${items.join(', ')}, separated by commas`);
  };
}

export function readLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= 1_000) return limit;
  throw new InvalidArgumentError('must be a whole number from 1 to 1000');
}

export function readShardCount(text: string): number {
  const count = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= SHARD_LIMIT) return count;
  throw new InvalidArgumentError(`must be a whole number from 1 to ${SHARD_LIMIT}`);
}
