import type { Herald } from '../tests/support/start-herald.ts';
import { bodyOf } from '../tests/support/http-request.ts';
import type { UnclearReceiver } from './change-receivers.ts';
import type { ChaosWorkspace } from './found-workspaces.ts';
import type { HeraldProcess } from '../tests/support/start-herald-process.ts';
import { createKnownEndpoint, type KnownEndpoint } from './known-endpoint.ts';

/** The final state of a receiver, as its workspace sees it. */
export type ShownReceiver = {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly enabled: boolean;
};

export type ReceiversInTheEnd = {
  readonly shown: readonly ShownReceiver[];
  /** When they were read, epoch ms. */
  readonly at: number;
};

/** The final receivers of every workspace. */
export async function readReceivers(
  herald: Herald,
  via: HeraldProcess | undefined,
  workspaces: readonly ChaosWorkspace[],
): Promise<ReceiversInTheEnd> {
  const at = Date.now();
  const lists = await Promise.all(
    workspaces.map(async ({ client: { key } }) => {
      const answer = await herald.request('GET', '/api/public/webhooks', { key, ...(via && { via }) });
      return (bodyOf(answer, 200) as { webhooks: ShownReceiver[] }).webhooks;
    }),
  );
  return { shown: lists.flat(), at };
}

/** Registrations without an answer that took effect, found by their paths. */
export function findUnclear(
  { shown }: ReceiversInTheEnd,
  unclear: readonly UnclearReceiver[],
  known: readonly KnownEndpoint[],
): KnownEndpoint[] {
  return unclear.flatMap(({ workspace, path, host, events, from }) => {
    const receiver = shown.find(({ url }) => url.endsWith(path));
    if (!receiver || known.some(({ id }) => id === receiver.id)) return [];
    const made = { from, by: Infinity, until: Infinity };
    const first = { id: receiver.id, workspaceId: workspace.client.id, path, host, events, secret: undefined };
    return [createKnownEndpoint(first, made)];
  });
}
