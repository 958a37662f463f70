import type { KnownEndpoint } from './known-endpoint.ts';
import type { AcceptedFact, AskedRedelivery, AskedReplay } from './ledger.ts';
import type { ReceiversInTheEnd } from './read-receivers.ts';
import type { DeliveryRecord } from './read-records.ts';
import type { Arrival } from './start-host.ts';

/** All that a run leaves to judge it by. Times are epoch ms. */
export type Evidence = {
  readonly facts: ReadonlyMap<string, AcceptedFact>;
  readonly endpoints: readonly KnownEndpoint[];
  /** Of all hosts, each host's in order. */
  readonly arrivals: readonly Arrival[];
  readonly records: readonly DeliveryRecord[];
  readonly redeliveries: readonly AskedRedelivery[];
  /** With what became of each; undefined: it isn't there. */
  readonly replays: readonly (AskedReplay & { readonly status: string | undefined })[];
  readonly receivers: ReceiversInTheEnd;
  /** Tries after which a delivery that was never answered well may be `failed`. */
  readonly triesOfSchedule: number;
  /** Longest time after which a send may still arrive that was decided on before, in ms. */
  readonly latestAfterMs: number;
  /** A failover may forget what was never answered with 2xx, though some receivers were told: it is then told anew. */
  readonly mayForgetUnanswered: boolean;
};

export const isWell = ({ answer }: Arrival): boolean => typeof answer === 'number' && answer >= 200 && answer < 300;

export function describeRecord(record: DeliveryRecord | undefined): string {
  if (!record) return 'not there';
  return record.reason === undefined ? record.status : `${record.status} (${record.reason})`;
}
