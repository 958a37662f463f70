import type { DeliveryStatus, HistoryReader, ListPlace, PastDelivery } from '@herald/core';
import { createLogReader } from '../logs/log-reader.ts';
import { toRestored } from '../deliveries/restored-delivery.ts';
import type { ShardKeys } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { readReplay } from './replay-record.ts';

export type FindReplayedDeps = {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  readonly history: HistoryReader;
};

type Entry = {
  readonly id: string;
  readonly at: string;
  readonly isGone?: true;
  readonly past?: unknown;
  readonly body?: number;
};

/** The place of the first body among the arguments of the script. */
const FIRST_BODY = 9;

/** Finds the deliveries that a replay looks at next, in Redis and in history, oldest first. */
export function createFindReplayed({ redis, keys, history }: FindReplayedDeps) {
  const logs = createLogReader(redis);
  /** Those in the log of the endpoint, and whether Redis has each. */
  const readLog = async ({ endpointId, since, until, last }: ReplayRange, limit: number) => {
    const places = await logs.oldestFirst(keys.endpointLog(endpointId), { since, until }, limit, last);
    const present = await Promise.all(places.map(({ id }) => redis.exists(keys.delivery(id))));
    return places.map((place, index) => ({ ...place, isPresent: present[index] === 1 }));
  };

  /** The arguments for the script, from its eighth on: none when the replay is not under way. */
  return async function findReplayed(replayId: string, limit: number): Promise<string[]> {
    const fields = await redis.hgetall(keys.replay(replayId));
    if (fields.s !== 'running') return [];
    const { endpointId, since, until, statuses } = readReplay(replayId, fields);
    const { ws: workspaceId = '', lastAt, lastId = '' } = fields;
    const last = lastAt === undefined ? undefined : { at: Number(lastAt), id: lastId };
    const range = { endpointId, since, until, last };
    // Redis first: what has left it since then is in history.
    const inLog = await readLog(range, limit);
    const query = { workspaceId, endpointId, since, until, after: last };
    const past = await history.listOldestFirst(query, limit);
    const total = last ? undefined : await history.count(query);

    const present = new Map(inLog.map((each) => [each.id, each]));
    const moved = new Map(past.map((each) => [each.delivery.id, each]));
    const places = [...inLog, ...past.map(({ delivery: { id, createdAt } }) => ({ id, at: createdAt }))];
    const ids = [...new Map(places.map((place) => [place.id, place])).values()]
      .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
      .slice(0, limit);

    const bodies: string[] = [];
    const entries = await Promise.all(
      ids.map(async ({ id, at }): Promise<Entry> => {
        const place = { id, at: String(at) };
        if (present.get(id)?.isPresent) return place;
        const found = moved.get(id);
        if (!found || !isWanted(found, statuses)) return { ...place, isGone: true };
        const transition = await history.findTransition(found.delivery);
        if (!transition) return { ...place, isGone: true };
        const body = FIRST_BODY + bodies.push(transition.body ?? '') - 1;
        return { ...place, past: JSON.parse(toRestored(found, transition)) as unknown, body };
      }),
    );
    const position = { lastAt: last ? String(last.at) : '', lastId: last?.id ?? '' };
    return [JSON.stringify({ ...position, total, entries }), ...bodies];
  };
}

type ReplayRange = {
  readonly endpointId: string;
  readonly since: number;
  readonly until: number;
  readonly last: ListPlace | undefined;
};

/** Test events are never sent again. */
function isWanted({ delivery }: PastDelivery, statuses: readonly DeliveryStatus[]): boolean {
  const { status, event, erasedAt } = delivery;
  return statuses.includes(status) && event !== 'webhook.test' && erasedAt === undefined;
}
