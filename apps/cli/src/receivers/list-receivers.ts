import type { WorkspaceId } from '@herald/core';
import { createFindDestinations } from '@herald/store/endpoints/find-destinations';
import { createReceiverStore } from '@herald/store/endpoints/receiver-store';
import { judgeEndpointHealth } from '@herald/store/endpoints/judge-endpoint-health';
import { walkReceivers } from '@herald/store/endpoints/walk-endpoints';
import type { EndpointRecord } from '@herald/store/endpoints/endpoint-record';
import type { Herald } from '../context/open-herald.ts';

/** Receivers, by workspace and then by age. There is no index of all: without a workspace every key is looked at. */
export async function listReceivers(
  { redis, keyspace, now }: Herald,
  workspaceId: WorkspaceId | undefined,
  withUrls: boolean,
  onProgress: (looked: number, total: number) => void,
) {
  const store = createReceiverStore({ redis, keyspace });
  const found: EndpointRecord[] = [];
  if (workspaceId !== undefined) found.push(...(await store.list(workspaceId)));
  else {
    for await (const { receivers, looked, total } of walkReceivers(redis, keyspace)) {
      found.push(...receivers);
      onProgress(looked, total);
    }
  }
  found.sort((a, b) => a.workspaceId.localeCompare(b.workspaceId) || a.createdAt - b.createdAt);
  const destinations = await createFindDestinations({ redis, keyspace, now })(found);
  return found.map((receiver, index) => {
    const { state, since } = judgeEndpointHealth(receiver, destinations[index]);
    const { id, url, events, description, disabledReason, createdAt, health } = receiver;
    return {
      id,
      workspace: receiver.workspaceId,
      url: withUrls ? url : originOf(url),
      events,
      description,
      state,
      since: toIso(since),
      ...(disabledReason !== undefined && { disabledReason }),
      consecutiveFailures: health.consecutiveFailures,
      backlog: destinations[index]?.due ?? 0,
      lastSuccessAt: health.lastSuccessAt === undefined ? null : toIso(health.lastSuccessAt),
      createdAt: toIso(createdAt),
    };
  });
}
export type ListedReceiver = Awaited<ReturnType<typeof listReceivers>>[number];

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? '';
}

const toIso = (ms: number) => new Date(ms).toISOString();
