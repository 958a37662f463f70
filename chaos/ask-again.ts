import { deliveryIdOf } from '@herald/core';
import type { ChaosWorkspace } from './found-workspaces.ts';
import type { KnownEndpoint } from './known-endpoint.ts';
import type { Ledger } from './ledger.ts';
import type { Insist } from './patient-client.ts';
import type { Random } from './random.ts';
import { mayHaveBeenOff, subscriptionOf } from './subscription.ts';

export type AskAgainDeps = { readonly insist: Insist; readonly ledger: Ledger };

const REPLAYED_MS = 15_000;

/** Asks for one more attempt of a delivery of this workspace. */
export async function askForRedelivery({ insist, ledger }: AskAgainDeps, workspace: ChaosWorkspace, random: Random) {
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
export async function askForReplay(
  { insist, ledger }: AskAgainDeps,
  { client, receivers }: ChaosWorkspace,
  random: Random,
) {
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
