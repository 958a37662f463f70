import { DEFAULT_ORDERING_TIMEOUT_MS, EVENT_NAMES, writeDuration, type WorkspaceId } from '@herald/core';
import { createFindGroups } from '@herald/store/endpoints/find-groups';
import { createReceiverStore } from '@herald/store/endpoints/receiver-store';
import { judgeEndpointHealth } from '@herald/store/endpoints/judge-endpoint-health';
import { walkReceivers } from '@herald/store/endpoints/walk-endpoints';
import type { EndpointRecord } from '@herald/store/endpoints/endpoint-record';
import type { Herald } from '../context/open-herald.ts';
import { bad, doubtful, good, type Cell } from '../output/cell.ts';
import { toDate } from '../output/time-text.ts';

/** Receivers, by workspace and then by age. There is no index of all: without a workspace this looks at every key. */
export async function listReceivers(
  { redis, keyspace, now }: Herald,
  workspaceId: WorkspaceId | undefined,
  withUrls: boolean,
  onProgress: (looked: number, total: number) => void,
) {
  const found: EndpointRecord[] = [];
  if (workspaceId !== undefined) found.push(...(await createReceiverStore({ redis, keyspace }).list(workspaceId)));
  else {
    for await (const { receivers, looked, total } of walkReceivers(redis, keyspace)) {
      found.push(...receivers);
      onProgress(looked, total);
    }
  }
  found.sort((a, b) => a.workspaceId.localeCompare(b.workspaceId) || a.createdAt - b.createdAt);
  const groups = await createFindGroups({ redis, keyspace, now })(found);
  return found.map((receiver, index) => {
    const { state, since } = judgeEndpointHealth(receiver, groups[index]);
    const { id, url, events, description, rateLimit, createdAt, health } = receiver;
    const { disabledReason, disabledBy, lockedReason, pausedAt, pausedReason, headerNames, maxRetryHours } = receiver;
    const { ordering = 'none', orderingTimeoutMs = DEFAULT_ORDERING_TIMEOUT_MS } = receiver;
    return {
      id,
      workspace: receiver.workspaceId,
      url: withUrls ? url : (URL.parse(url)?.origin ?? ''),
      events,
      description,
      ordering,
      orderingTimeout: writeDuration(orderingTimeoutMs),
      rateLimit,
      state,
      since: new Date(since),
      disabledReason,
      disabledBy,
      lockedReason,
      pausedAt: toDate(pausedAt),
      pausedReason,
      headerNames,
      maxRetryHours,
      consecutiveFailures: health.consecutiveFailures,
      backlog: groups[index]?.due ?? 0,
      waitingForRate: groups[index]?.waitingForRate ?? 0,
      lastSuccessAt: toDate(health.lastSuccessAt) ?? null,
      createdAt: new Date(createdAt),
    };
  });
}
type ListedReceiver = Awaited<ReturnType<typeof listReceivers>>[number];

export const RECEIVER_COLUMNS = ['id', 'workspace', 'url', 'events', 'state', 'since', 'backlog', 'last success'];

const PAINT = { healthy: good, failing: doubtful, paused: doubtful, disabled: bad };

export function toReceiverRow(receiver: ListedReceiver): Cell[] {
  const { id, workspace, url, since, backlog, lastSuccessAt } = receiver;
  const hasAll = receiver.events.length === 0 || receiver.events.length === EVENT_NAMES.length;
  const events = hasAll ? 'all' : receiver.events.join(',');
  const state = PAINT[receiver.state](`${receiver.state}${detailOf(receiver)}${rateOf(receiver)}`);
  return [id, workspace, url, events, state, since, backlog, lastSuccessAt ?? undefined];
}

function rateOf({ rateLimit, waitingForRate }: ListedReceiver): string {
  return rateLimit && waitingForRate > 0 ? `, ${waitingForRate} wait for its rate of ${rateLimit.perSecond}/s` : '';
}

function detailOf(receiver: ListedReceiver): string {
  const { state, disabledReason, disabledBy, lockedReason, pausedAt, pausedReason, consecutiveFailures } = receiver;
  if (state === 'disabled') {
    const by = disabledReason === 'by_request' && disabledBy !== undefined ? ` of ${disabledBy}` : '';
    const why = lockedReason === undefined ? '' : `: ${lockedReason}`;
    return disabledReason === undefined ? '' : ` (${disabledReason}${by}${why})`;
  }
  if (state === 'paused' && pausedAt)
    return ` (by an operator${pausedReason === undefined ? '' : `: ${pausedReason}`})`;
  return state !== 'healthy' && consecutiveFailures > 0 ? ` (${consecutiveFailures} in a row)` : '';
}
