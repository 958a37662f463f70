import type { TaskEventName } from '@herald/core';
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '@herald/test-kit';
import { TASK_EVENTS, type ChaosWorkspace } from './found-workspaces.ts';
import type { KnownEndpoint } from './known-endpoint.ts';
import type { Ledger } from './ledger.ts';
import type { Insist } from './patient-client.ts';
import { createRandom, type Random } from './random.ts';
import type { Load } from './start-load.ts';
import { walkList, type Walk } from './walk-list.ts';

export type ReadersDeps = {
  readonly insist: Insist;
  readonly ledger: Ledger;
  readonly seed: number;
  readonly workspaces: readonly ChaosWorkspace[];
};

export type Readers = Load & { readonly lists: PastLists };

export type PastLists = {
  readonly all: readonly PastList[];
  readonly counts: {
    /** Lists that were read to their end, the history being there for each page. */
    whole: number;
    pages: number;
    /** Pages that said that the history was away. */
    partial: number;
  };
};

/** A list as it was during the run. */
export type PastList = {
  /** As a sentence has it. */
  readonly name: string;
  readonly workspaceId: string;
  /** Absent: that of the whole workspace. */
  readonly receiver?: KnownEndpoint;
  readonly event?: TaskEventName;
  /** It has what was accepted since then, epoch ms. */
  readonly since: number;
  /** Epoch ms. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Absent: it was not found. */
  readonly walk: Walk | undefined;
};

const LIMITS = [5, 20, 100];
/** They read what was accepted since then, in ms: what moves now, and what has moved. */
const READ_MS = 15_000;

/** Somebody in each workspace who reads lists, page by page, while deliveries move from one store to the other. */
export function startReaders(deps: ReadersDeps): Readers {
  const stopping = new AbortController();
  const all: PastList[] = [];
  const counts = { whole: 0, pages: 0, partial: 0 };
  const read = async (workspace: ChaosWorkspace, index: number) => {
    const random = createRandom(deps.seed, `reader ${index}`);
    while (!stopping.signal.aborted) {
      try {
        const list = await readList(deps, workspace, random, stopping.signal);
        all.push(list);
        counts.pages += list.walk?.pages ?? 0;
        counts.partial += list.walk?.partial ?? 0;
        if (list.walk?.isWhole) counts.whole++;
      } catch (error) {
        deps.ledger.violations.push(`reader ${index}: ${messageOf(error)}`);
      }
      await pause(random.between(200, 1_000));
    }
  };
  const readers = deps.workspaces.map(read);
  return {
    lists: { all, counts },
    async stop() {
      stopping.abort();
      await Promise.all(readers);
    },
  };
}

async function readList(
  { insist }: ReadersDeps,
  { client, receivers }: ChaosWorkspace,
  random: Random,
  signal: AbortSignal,
): Promise<PastList> {
  const receiver = random.chance(0.6) ? random.pick(receivers) : undefined;
  const event = random.chance(0.4) ? random.pick(TASK_EVENTS) : undefined;
  const startedAt = Date.now();
  const since = startedAt - READ_MS;
  const path = receiver ? `/api/public/webhooks/${receiver.id}/deliveries` : '/api/public/deliveries';
  const query = { limit: String(random.pick(LIMITS)), since: new Date(since).toISOString(), ...(event && { event }) };
  const walk = await walkList({ insist, key: client.key, path, query, signal });
  return {
    name: `${path}?${new URLSearchParams(query).toString()}, read at ${startedAt},`,
    workspaceId: client.id,
    ...(receiver && { receiver }),
    ...(event && { event }),
    since,
    startedAt,
    endedAt: Date.now(),
    walk,
  };
}
