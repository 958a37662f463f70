import { groupOf, isNotice, type Delivery, type DeliveryId, type EndpointId, type PastDelivery } from '@herald/core';
import { readAttempt, type AttemptRecord } from '../deliveries/attempt-record.ts';
import { readFirstAttempt } from '../deliveries/first-attempt.ts';
import { readDelivery, SHOWN_TRANSITION_FIELDS, takeFields } from '../deliveries/delivery-record.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { ShardKeys } from '../keys/keys.ts';
import { findWaitingFor } from '../ordering/find-waiting-for.ts';

/** A delivery as an operator sees it: no secret, no body, and of the url the host alone. */
export type DeliveryDescription = {
  readonly delivery: Delivery;
  /**
   * Host and port of the endpoint's url; the rest of it may hold tokens. Of a notice, the variable that has the url.
   * Absent when the endpoint was removed.
   */
  readonly host?: string;
  readonly endpointState: 'enabled' | 'disabled' | 'removed';
  /** Attempts in its log, redeliveries included. */
  readonly attempts: number;
  /** Absent before the first. */
  readonly lastAttempt?: AttemptRecord;
  /** Status or error code of the last attempt; absent before the first. */
  readonly lastOutcome?: string;
  /** The delivery in front of which it may not go. */
  readonly waitingFor?: DeliveryId;
  /** Where it waits. */
  readonly group: string;
};

/**
 * Undefined when there is no record. A page at once costs two pipelines: the client makes one of each tick.
 * @param findPast looks for one that has left Redis
 */
export async function describeDelivery(
  redis: RedisClient,
  keys: ShardKeys,
  id: DeliveryId,
  findPast?: (id: DeliveryId) => Promise<PastDelivery | undefined>,
): Promise<DeliveryDescription | undefined> {
  const [fields, length, last] = await Promise.all([
    redis.hgetall(keys.delivery(id)),
    redis.llen(keys.attempts(id)),
    redis.lindex(keys.attempts(id), -1),
  ]);
  const { x, e } = fields;
  if (x !== undefined && e !== undefined) {
    const [values, endpoint] = await Promise.all([
      redis.hmget(keys.transition(x), ...SHOWN_TRANSITION_FIELDS),
      readEndpointFacts(redis, keys, e),
    ]);
    const transition = takeFields(SHOWN_TRANSITION_FIELDS, values);
    // Redis lost the transition but kept the record, which a failover can cause: a worker ends the delivery.
    if (transition.ws !== undefined && transition.ev !== undefined) {
      const delivery = readDelivery(id, fields, transition);
      const waitingFor = isNotice(delivery.event) ? undefined : await findWaitingFor(redis, keys, delivery);
      const first = readFirstAttempt(fields);
      const attempts = length + (first ? 1 : 0);
      const lastAttempt = last === null ? first : readAttempt(last);
      return describe(delivery, { attempts, lastAttempt, endpoint, waitingFor });
    }
  }
  const past = await findPast?.(id);
  if (!past) return undefined;
  const endpoint = await readEndpointFacts(redis, keys, past.delivery.endpointId);
  const lastAttempt = past.attempts.map(readAttempt).at(-1);
  return describe(past.delivery, { attempts: past.attempts.length, lastAttempt, endpoint });
}

/** Url, whether it is enabled, and its origin. */
const readEndpointFacts = (redis: RedisClient, keys: ShardKeys, id: EndpointId) =>
  redis.hmget(keys.endpoint(id), 'url', 'on', 'dst');

type Found = {
  readonly attempts: number;
  readonly lastAttempt: AttemptRecord | undefined;
  readonly endpoint: Awaited<ReturnType<typeof readEndpointFacts>>;
  readonly waitingFor?: DeliveryId | undefined;
};

function describe(delivery: Delivery, { attempts, lastAttempt, endpoint, waitingFor }: Found): DeliveryDescription {
  const [url, on, origin] = endpoint;
  const { endpointId } = delivery;
  const lastOutcome = lastAttempt?.status === undefined ? lastAttempt?.error : String(lastAttempt.status);
  const log = {
    attempts,
    ...(lastAttempt && { lastAttempt }),
    ...(lastOutcome !== undefined && { lastOutcome }),
  };
  if (isNotice(delivery.event)) {
    return {
      delivery,
      host: 'NOTICE_URL',
      endpointState: 'enabled',
      ...log,
      group: endpointId,
    };
  }
  return {
    delivery,
    ...(waitingFor !== undefined && { waitingFor }),
    ...(url != null && { host: URL.parse(url)?.host ?? '' }),
    endpointState: url == null ? 'removed' : on === '1' ? 'enabled' : 'disabled',
    ...log,
    group: groupOf(endpointId, origin ?? endpointId),
  };
}
