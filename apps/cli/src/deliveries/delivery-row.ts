import type { DeliveryStatus } from '@herald/core';
import type { AttemptRecord } from '@herald/store/deliveries/delivery-record';
import type { DeliveryDescription } from '@herald/store/operators/describe-delivery';
import { bad, doubtful, good, type Cell } from '../output/cell.ts';
import { spanText } from '../output/time-text.ts';

export const DELIVERY_COLUMNS = ['id', 'event', 'status', 'host', 'attempts', 'last outcome', 'accepted', 'next try'];

const PAINT: Record<DeliveryStatus, (text: string) => Cell> = {
  pending: doubtful,
  delivered: good,
  failed: bad,
  canceled: (text) => text,
};

export function toDeliveryRow({ delivery, host, attempts, lastOutcome }: DeliveryDescription): Cell[] {
  const { id, event, status, createdAt, nextAttemptAt } = delivery;
  return [
    ...[id, event, PAINT[status](status), host ?? '(removed)', attempts, lastOutcome],
    ...[new Date(createdAt), toDate(nextAttemptAt)],
  ];
}

export function toDeliveryFacts({ delivery, host, endpointState, lastOutcome }: DeliveryDescription) {
  const { status, reason, tries, owedAttempts } = delivery;
  return {
    delivery: delivery.id,
    event: delivery.event,
    status: PAINT[status](reason === undefined ? status : `${status} (${reason})`),
    workspace: delivery.workspaceId,
    task: delivery.taskId,
    transition: delivery.transitionId,
    endpoint: `${delivery.endpointId} (${endpointState})`,
    host,
    accepted: new Date(delivery.createdAt),
    tries,
    'last outcome': lastOutcome,
    'next try': toDate(delivery.nextAttemptAt),
    settled: toDate(delivery.settledAt),
    'pending redeliveries': owedAttempts > 0 ? owedAttempts : undefined,
  } satisfies Record<string, Cell>;
}

export const ATTEMPT_COLUMNS = ['attempt', 'at', 'took', 'outcome', 'answer'];

/** What is shown of an answer; --json has its first 1 KiB. */
const ANSWER_LENGTH = 60;

export function toAttemptRow({ at, durationMs, status, error, answer = '' }: AttemptRecord, index: number): Cell[] {
  const outcome = status === undefined ? error : String(status);
  const isGood = status !== undefined && status >= 200 && status < 300;
  const shown = answer.length > ANSWER_LENGTH ? `${answer.slice(0, ANSWER_LENGTH)}…` : answer;
  return [
    index + 1,
    new Date(at),
    durationMs < 1_000 ? `${durationMs} ms` : spanText(durationMs),
    (isGood ? good : bad)(outcome ?? ''),
    shown,
  ];
}

function toDate(ms: number | undefined): Date | undefined {
  return ms === undefined ? undefined : new Date(ms);
}
