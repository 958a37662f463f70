import { createFindGroups, type GroupHealth } from '@herald/store/endpoints/find-groups';
import type { DeliveryDescription } from '@herald/store/operators/describe-delivery';
import type { Herald } from '../context/open-herald.ts';
import type { Cell } from '../output/cell.ts';
import { toDate } from '../output/time-text.ts';

/** What keeps a pending delivery from its next try: an operator, an endpoint that doesn't answer or asked to be left alone, or the rate. */
export type Wait =
  | { readonly state: 'stopped' }
  | { readonly state: 'breaker_open'; readonly nextProbeAt: Date }
  | { readonly state: 'paused'; readonly pausedUntil: Date }
  | { readonly state: 'rate_limited' };

/** A delivery, and what it waits for besides the time of its next try. */
export type DeliveryWithWait = DeliveryDescription & { readonly wait?: Wait };

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
