import { deliveryIdOf } from '@herald/core';
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '@herald/test-kit';
import { TASK_EVENTS, type ChaosWorkspace } from './found-workspaces.ts';
import { judgeWalk } from './judge-walk.ts';
import type { KnownEndpoint } from './known-endpoint.ts';
import type { Ledger } from './ledger.ts';
import type { Insist } from './patient-client.ts';
import { createRandom, type Random } from './random.ts';
import type { Load } from './start-load.ts';
import { findSubscribed } from './subscription.ts';
import { walkList } from './walk-list.ts';

export type ReadersDeps = {
  readonly insist: Insist;
  readonly ledger: Ledger;
  /** All that ever were; it grows. */
  readonly endpoints: readonly KnownEndpoint[];
  readonly seed: number;
  readonly workspaces: readonly ChaosWorkspace[];
  /** Servers with replicas may answer for a moment what was true before. */
  readonly mayBeStale: boolean;
};

export type Readers = Load & {
  readonly counts: {
    /** Lists that were read to their end, the history being there for each page. */
    whole: number;
    pages: number;
    /** Pages that said that the history was away. */
    partial: number;
  };
};

const LIMITS = [5, 20, 100];
/** They read what was accepted since then, in ms: what moves now, and what has moved. */
const READ_MS = 15_000;
/** Between the clocks of the run and of an acceptance, in ms. */
const TOLERANCE_MS = 2_000;

/** Somebody in each workspace who reads lists, page by page, while deliveries move from one store to the other. */
export function startReaders(deps: ReadersDeps): Readers {
  const stopping = new AbortController();
  const counts = { whole: 0, pages: 0, partial: 0 };
  const read = async (workspace: ChaosWorkspace, index: number) => {
    const random = createRandom(deps.seed, `reader ${index}`);
    while (!stopping.signal.aborted) {
      try {
        await readList(deps, workspace, random, counts, stopping.signal);
      } catch (error) {
        deps.ledger.violations.push(`reader ${index}: ${messageOf(error)}`);
      }
      await pause(random.between(200, 1_000));
    }
  };
  const readers = deps.workspaces.map(read);
  return {
    counts,
    async stop() {
      stopping.abort();
      await Promise.all(readers);
    },
  };
}

async function readList(
  { insist, ledger, endpoints, mayBeStale }: ReadersDeps,
  { client, receivers }: ChaosWorkspace,
  random: Random,
  counts: Readers['counts'],
  signal: AbortSignal,
): Promise<void> {
  const receiver = random.chance(0.6) ? random.pick(receivers) : undefined;
  const event = random.chance(0.4) ? random.pick(TASK_EVENTS) : undefined;
  const startedAt = Date.now();
  const since = startedAt - READ_MS;
  const path = receiver ? `/api/public/webhooks/${receiver.id}/deliveries` : '/api/public/deliveries';
  const query = { limit: String(random.pick(LIMITS)), since: new Date(since).toISOString(), ...(event && { event }) };
  const walk = await walkList({ insist, key: client.key, path, query, signal });
  if (!walk) {
    if (receiver?.exists.possible(startedAt, Date.now()).includes(false)) return;
    throw new Error(`${path} was not found`);
  }
  counts.pages += walk.pages;
  counts.partial += walk.partial;
  if (walk.isWhole) counts.whole++;
  const facts = [...ledger.facts.values()].filter(
    (fact) =>
      fact.workspaceId === client.id &&
      fact.from >= since + TOLERANCE_MS &&
      fact.by <= startedAt &&
      (event === undefined || fact.event === event),
  );
  const expected = [...findSubscribed(facts, receiver ? [receiver] : endpoints)].flatMap(([fact, { id }, isCertain]) =>
    isCertain ? deliveryIdOf(fact.transitionId, id) : [],
  );
  const name = `${path}?${new URLSearchParams(query).toString()}, read at ${startedAt},`;
  ledger.violations.push(...judgeWalk(name, walk, mayBeStale ? [] : expected));
}
