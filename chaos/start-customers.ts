import { deliveryIdOf } from '@herald/core';
import { messageOf } from '@herald/test-kit';
import { setTimeout as pause } from 'node:timers/promises';
import { type ChangeDeps, changeReceivers, type UnclearReceiver } from './change-receivers.ts';
import type { ChaosWorkspace } from './found-workspaces.ts';
import type { KnownEndpoint } from './known-endpoint.ts';
import type { Ledger } from './ledger.ts';
import type { Insist } from './patient-client.ts';
import { createRandom, type Random } from './random.ts';
import type { Load } from './start-load.ts';
import { mayHaveBeenOff, subscriptionOf } from './subscription.ts';

export type CustomersDeps = Omit<ChangeDeps, 'onUnclear'> & {
  readonly seed: number;
  readonly workspaces: readonly ChaosWorkspace[];
};

export type Customers = Load & {
  /** Registrations without an answer. */
  readonly unclear: readonly UnclearReceiver[];
};

/** A customer for each workspace, who changes receivers and asks for redeliveries, one request at a time. */
export function startCustomers(deps: CustomersDeps): Customers {
  const stopping = new AbortController();
  const unclear: UnclearReceiver[] = [];
  const serve = async (workspace: ChaosWorkspace, index: number) => {
    const random = createRandom(deps.seed, `customer ${index}`);
    const changing = {
      ...deps,
      onUnclear: (one: Omit<UnclearReceiver, 'workspace'>) => unclear.push({ ...one, workspace }),
    };
    while (!stopping.signal.aborted) {
      const what = random.next();
      try {
        if (what < 0.5) await changeReceivers(changing, workspace, random);
        else if (what < 0.85) await askForRedelivery(deps, workspace, random);
        else await askForReplay(deps, workspace, random);
      } catch (error) {
        deps.ledger.violations.push(`customer ${index}: ${messageOf(error)}`);
      }
      await pause(random.between(100, 1_200));
    }
  };
  const customers = deps.workspaces.map(serve);
  return {
    unclear,
    async stop() {
      stopping.abort();
      await Promise.all(customers);
    },
  };
}

type AskAgainDeps = { readonly insist: Insist; readonly ledger: Ledger };

const REPLAYED_MS = 15_000;

/** Asks for one more attempt of a delivery of this workspace. */
async function askForRedelivery({ insist, ledger }: AskAgainDeps, workspace: ChaosWorkspace, random: Random) {
  const facts = [...ledger.facts.values()].filter(({ workspaceId }) => workspaceId === workspace.client.id);
  const receiver = random.pick(workspace.receivers);
  if (facts.length === 0) return;
  const fact = random.pick(facts);
  if (subscriptionOf(fact, receiver) !== 'certain') return;
  const deliveryId = deliveryIdOf(fact.transitionId, receiver.id);
  const path = `/api/public/deliveries/${deliveryId}/redeliver`;
  const { status, text, effect } = await insist('POST', path, { key: workspace.client.key });
  if (status === 202) ledger.redeliveries.push({ deliveryId, endpoint: receiver, from: effect.from });
  else assertOff(receiver, effect, `the redelivery of ${deliveryId} was answered ${text}`);
}

/** Asks for a replay of recently failed or canceled deliveries of one receiver. */
async function askForReplay({ insist, ledger }: AskAgainDeps, { client, receivers }: ChaosWorkspace, random: Random) {
  const receiver = random.pick(receivers);
  const since = Date.now() - REPLAYED_MS;
  const path = `/api/public/webhooks/${receiver.id}/replay`;
  const { status, text, body, effect } = await insist('POST', path, {
    key: client.key,
    body: { since: new Date(since).toISOString() },
  });
  if (status === 202) {
    ledger.replays.push({ id: (body as { id: string }).id, endpoint: receiver, from: effect.from, since });
    return;
  }
  if ((body as { code?: string }).code === 'replay_limit_reached') return;
  assertOff(receiver, effect, `a replay of ${receiver.id} was answered ${text}`);
}

/** A refusal means that the receiver is disabled or removed. */
function assertOff(receiver: KnownEndpoint, { from, by }: { from: number; by: number }, otherwise: string): void {
  if (!mayHaveBeenOff(receiver, from, by)) throw new Error(otherwise);
}
