import type { KnownEndpoint } from './known-endpoint.ts';
import type { HistoryRow } from './read-history-rows.ts';
import type { ReadList } from './read-lists.ts';
import type { AcceptedFact, AskedRedelivery, AskedReplay } from './ledger.ts';
import type { ReceiversInTheEnd } from './read-receivers.ts';
import type { DeliveryRecord } from './read-records.ts';
import type { Arrival } from './start-host.ts';

/** The evidence of a run. Times are epoch ms. */
export type Evidence = {
  readonly facts: ReadonlyMap<string, AcceptedFact>;
  readonly endpoints: readonly KnownEndpoint[];
  /** The requests at all hosts, in order for each host. */
  readonly arrivals: readonly Arrival[];
  /** Of both stores; the one in Redis where both have it. */
  readonly records: readonly DeliveryRecord[];
  /** Absent: there is none. */
  readonly history?: { readonly rows: readonly HistoryRow[]; readonly lists: readonly ReadList[] };
  readonly redeliveries: readonly AskedRedelivery[];
  /** Each with its final state; undefined: it doesn't exist. */
  readonly replays: readonly (AskedReplay & { readonly status: string | undefined })[];
  readonly receivers: ReceiversInTheEnd;
  /** Tries after which a delivery that never got a 2xx may be `failed`. */
  readonly triesOfSchedule: number;
  /** Longest time between the decision to send and the arrival, in ms. */
  readonly latestAfterMs: number;
  /**
   * A failover may lose a transition that was never answered with 2xx, after some deliveries of it. It is then accepted
   * anew.
   */
  readonly mayForgetUnanswered: boolean;
};

export const isWell = ({ answer }: Arrival): boolean => typeof answer === 'number' && answer >= 200 && answer < 300;

export function describeRecord(record: DeliveryRecord | undefined): string {
  if (!record) return 'not there';
  return record.reason === undefined ? record.status : `${record.status} (${record.reason})`;
}
