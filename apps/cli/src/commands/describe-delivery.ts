import { deliveryHeaders } from '@herald/core';
import { spanText } from '@herald/runtime/text';
import type { AttemptRecord } from '@herald/store/deliveries/attempt-record';
import { createFindGroups, type GroupHealth } from '@herald/store/endpoints/receiver-store';
import type { DeliveryDescription } from '@herald/store/operators/describe-delivery';
import { bad, type Cell, doubtful, good, plain, toDate } from '../context/create-output.ts';
import type { Herald } from '../context/open-herald.ts';

/** A delivery for programs: without its body and its secret, and of the url only the host. */
export function toDeliveryJson(description: DeliveryWithWait) {
  const { delivery, host, endpointState, attempts, lastOutcome, wait, waitingFor } = description;
  const { owedAttempts } = delivery;
  return {
    id: delivery.id,
    workspace: delivery.workspaceId,
    endpointId: delivery.endpointId,
    endpointState,
    host: host ?? null,
    transitionId: delivery.transitionId,
    taskId: delivery.taskId ?? null,
    event: delivery.event,
    sampleOf: delivery.sampleOf,
    status: delivery.status,
    reason: delivery.reason,
    tries: delivery.tries,
    attemptCount: attempts,
    lastOutcome: lastOutcome ?? null,
    owedAttempts: owedAttempts > 0 ? owedAttempts : undefined,
    createdAt: new Date(delivery.createdAt),
    nextAttemptAt: toDate(delivery.nextAttemptAt) ?? null,
    waitingFor,
    waitsFor: wait ?? null,
    settledAt: toDate(delivery.settledAt) ?? null,
    erasedAt: toDate(delivery.erasedAt),
  };
}

export function toAttemptJson({ at, digest, ...attempt }: AttemptRecord) {
  return { at: new Date(at), ...attempt, ...(digest !== undefined && { answerDigest: digest }) };
}

const PAINT = { pending: doubtful, delivered: good, failed: bad, canceled: plain };

export const DELIVERY_COLUMNS = ['id', 'event', 'status', 'host', 'attempts', 'last outcome', 'accepted', 'next try'];

export function toDeliveryRow(description: DeliveryWithWait): Cell[] {
  const { delivery, host, attempts, lastOutcome } = description;
  const { id, event, createdAt } = delivery;
  const status = PAINT[delivery.status](delivery.status);
  const nextTry = nextTryOf(description);
  return [id, event, status, host ?? '(removed)', attempts, lastOutcome, new Date(createdAt), nextTry];
}

export function toDeliveryFacts(description: DeliveryWithWait) {
  const { delivery, host, endpointState, lastOutcome, waitingFor } = description;
  const { status, reason, owedAttempts } = delivery;
  return {
    delivery: delivery.id,
    event: delivery.event,
    'sample of': delivery.sampleOf,
    status: PAINT[status](reason === undefined ? status : `${status} (${reason})`),
    workspace: delivery.workspaceId,
    task: delivery.taskId,
    transition: delivery.transitionId,
    endpoint: `${delivery.endpointId} (${endpointState})`,
    host,
    accepted: new Date(delivery.createdAt),
    tries: delivery.tries,
    'last outcome': lastOutcome,
    'next try': nextTryOf(description),
    'waiting for': waitingFor,
    settled: toDate(delivery.settledAt),
    'payload erased': toDate(delivery.erasedAt),
    'pending redeliveries': owedAttempts > 0 ? owedAttempts : undefined,
  };
}

/** What is sent, without the signatures and without what the sender adds to every request. */
export function toRequest(
  { delivery, lastAttempt }: DeliveryWithWait,
  { url, body }: { readonly url?: string; readonly body?: string },
) {
  const headers = deliveryHeaders(delivery, lastAttempt?.at);
  return { method: 'POST', url: url ?? null, headers, body: body ?? null };
}

export const ATTEMPT_COLUMNS = [
  'attempt',
  'at',
  'took',
  'outcome',
  'answer',
  'headers',
  'address',
  'keys',
  'answer digest',
];

/** Characters of an answer in a table; --json has its first 1 KiB. */
const ANSWER_LENGTH = 60;

export function toAttemptRow(
  { at, durationMs, status, error, answer = '', headers = {}, bodyNote, address, keyIds, digest }: AttemptRecord,
  index: number,
): Cell[] {
  const isGood = status !== undefined && status >= 200 && status < 300;
  const outcome = (isGood ? good : bad)([status ?? error ?? '', bodyNote].filter(Boolean).join(' '));
  const took = durationMs < 1_000 ? `${durationMs} ms` : spanText(durationMs);
  const shown = answer.length > ANSWER_LENGTH ? `${answer.slice(0, ANSWER_LENGTH)}…` : answer;
  const explanation = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const proof = [address, keyIds?.join(', '), digest];
  return [index + 1, new Date(at), took, outcome, shown, explanation.join(', '), ...proof];
}

/** What keeps a pending delivery from its next try: an operator, an endpoint that doesn't answer or asked to be left alone, or the rate. */
export type Wait =
  | { readonly state: 'stopped' }
  | { readonly state: 'breaker_open'; readonly nextProbeAt: Date }
  | { readonly state: 'paused'; readonly pausedUntil: Date }
  | { readonly state: 'rate_limited' };

/** A delivery, and what it waits for besides the time of its next try. */
type DeliveryWithWait = DeliveryDescription & { readonly wait?: Wait };

/** Adds to each delivery what it waits for; reads the state of each group once. */
export async function addWaits(
  herald: Herald,
  descriptions: readonly DeliveryDescription[],
): Promise<DeliveryWithWait[]> {
  const nameOf = ({ delivery, group }: DeliveryDescription) => `${delivery.workspaceId} ${group}`;
  // A redelivery passes an open breaker and a pause.
  const waiting = descriptions.filter(({ delivery }) => delivery.status === 'pending' && delivery.owedAttempts === 0);
  const byGroup = new Map(waiting.map((each) => [nameOf(each), each]));
  const groups = await createFindGroups(herald)(
    [...byGroup.values()].map(({ delivery: { workspaceId }, group }) => ({ workspaceId, group })),
  );
  const waits = new Map([...byGroup.keys()].map((name, index) => [name, toWait(groups[index], herald.now())]));
  return descriptions.map((each) => {
    const found = waiting.includes(each) ? waits.get(nameOf(each)) : undefined;
    const isDue = (each.delivery.nextAttemptAt ?? 0) <= herald.now();
    const wait = found?.state === 'rate_limited' && !isDue ? undefined : found;
    return wait ? { ...each, wait } : each;
  });
}

function toWait(group: GroupHealth, now: number): Wait | undefined {
  if (group?.isStopped) return { state: 'stopped' };
  if (group?.isOpen) return { state: 'breaker_open', nextProbeAt: new Date(Math.max(now, group.nextProbeAt ?? now)) };
  if (group?.heldUntil !== undefined) return { state: 'paused', pausedUntil: new Date(group.heldUntil) };
  return group?.waitingForRate === undefined ? undefined : { state: 'rate_limited' };
}

/** When a delivery is tried next, as far as that is known. */
export function nextTryOf({ delivery, wait, waitingFor }: DeliveryWithWait): Cell {
  const dueAt = toDate(delivery.nextAttemptAt);
  if (wait?.state === 'stopped') return 'when an operator resumes its receiver';
  if (waitingFor !== undefined && dueAt) return { before: `after ${waitingFor}, by `, at: dueAt, after: '' };
  if (wait?.state === 'breaker_open')
    return { before: 'when the endpoint answers again (next probe ', at: wait.nextProbeAt, after: ')' };
  if (wait?.state === 'rate_limited') return 'when the rate of its receiver allows it';
  if (wait?.state !== 'paused' || (dueAt && dueAt >= wait.pausedUntil)) return dueAt;
  return { before: '', at: wait.pausedUntil, after: ' (the endpoint asked for a pause)' };
}
