import { ID_PATTERNS, readDuration, WorkspaceIdText } from '@herald/core';
import { readInteger } from '@herald/runtime/env/env';
import { SHARD_LIMIT } from '@herald/store/keyspace/shards';
import { InvalidArgumentError } from 'commander';

export function readWorkspace(text: string): string {
  const parsed = WorkspaceIdText.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(parsed.error.issues[0]?.message ?? 'is not a workspace id');
}

/** Checks the form of an id, so that a mistyped one is told apart from an unknown one. */
function readId(thing: keyof typeof ID_PATTERNS, example: string) {
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

/** The id of a receiver or a callback. */
export function readEndpointId(text: string): string {
  return CALLBACK_ID.test(text) ? text : readReceiverId(text);
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

/** A time such as `2030-01-31T12:00:00Z`, or how long ago it was, such as `2h`; as epoch ms. */
export function readTime(now: () => number) {
  return (text: string): number => {
    const agoMs = readDuration(text);
    if (agoMs !== undefined) return now() - agoMs;
    const at = INSTANT.test(text) ? Date.parse(text) : NaN;
    if (!Number.isNaN(at)) return at;
    throw new InvalidArgumentError('must be how long ago, such as 2h or 3d, or a time such as 2030-01-31T12:00:00Z');
  };
}

/** One or more of `items`, separated by commas. */
export function readListOf<Item extends string>(items: readonly Item[]) {
  return (text: string): Item[] => {
    const named = text.split(',');
    const found = items.filter((item) => named.includes(item));
    if (found.length === named.length) return found;
    throw new InvalidArgumentError(`must be of ${items.join(', ')}, separated by commas`);
  };
}

function readCountTo(limit: number) {
  return (text: string): number => {
    const count = readInteger(text, 1, limit);
    if (count !== undefined) return count;
    throw new InvalidArgumentError(`must be a whole number from 1 to ${limit}`);
  };
}

export const readLimit = readCountTo(1_000);
export const readShardCount = readCountTo(SHARD_LIMIT);
