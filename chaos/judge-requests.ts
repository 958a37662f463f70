import { describeRecord, type Evidence } from './evidence.ts';
import { mayHaveBeenOff } from './subscription.ts';

/** Promised redeliveries that were not made, although their receiver existed and was enabled. */
export function judgeRedeliveries({ redeliveries, records }: Evidence): string[] {
  const recordOf = new Map(records.map((record) => [record.id, record]));
  return redeliveries.flatMap(({ deliveryId, endpoint, from }) => {
    const record = recordOf.get(deliveryId);
    if (record?.attempts.some(({ at }) => at >= from)) return [];
    if (mayHaveBeenOff(endpoint, from, Infinity)) return [];
    return [
      `the redelivery of ${deliveryId}, asked for at ${from}, was never made: ${JSON.stringify(record?.attempts)}`,
    ];
  });
}

/** Promised replays that were not carried out, or were incomplete. */
export function judgeReplays({ replays, records }: Evidence): string[] {
  return replays.flatMap(({ id, endpoint, from, since, status }) => {
    if (status === 'stopped' && mayHaveBeenOff(endpoint, from, Infinity)) return [];
    if (status !== 'done') return [`the replay ${id} is ${status ?? 'not there'}`];
    return records
      .filter(({ endpointId, createdAt }) => endpointId === endpoint.id && createdAt >= since && createdAt < from)
      .filter((record) => record.status === 'failed' || record.status === 'canceled')
      .filter(({ settledAt = Infinity }) => settledAt < from)
      .map((record) => `the replay ${id} of ${from} left ${record.id} as it was: ${describeRecord(record)}`);
  });
}
