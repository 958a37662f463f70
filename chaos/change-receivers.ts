import { TASK_EVENTS, type ChaosWorkspace } from './found-workspaces.ts';
import { insistOnce } from './insist-once.ts';
import { createKnownEndpoint, type KnownEndpoint } from './known-endpoint.ts';
import type { Ledger } from './ledger.ts';
import type { Insist } from './patient-client.ts';
import type { Random } from './random.ts';
import { rotateSecret } from './rotate-secret.ts';

export type ChangeDeps = {
  readonly insist: Insist;
  readonly ledger: Ledger;
  readonly origins: readonly string[];
  /** Gets every receiver. */
  readonly onReceiver: (endpoint: KnownEndpoint) => void;
  /** A registration that may have been made, or may still be made. */
  readonly onUnclear: (endpoint: Omit<UnclearReceiver, 'workspace'>) => void;
};

/** A registration that may exist at a path. */
export type UnclearReceiver = {
  readonly workspace: ChaosWorkspace;
  readonly path: string;
  readonly host: number;
  readonly events: readonly string[];
  /** Earliest time of its effect, epoch ms. */
  readonly from: number;
};

const MOST_RECEIVERS = 5;
const LONGEST_OVERLAP_S = 4;

/** Changes, adds or removes a receiver of a workspace. The first receiver never changes. */
export async function changeReceivers(deps: ChangeDeps, workspace: ChaosWorkspace, random: Random): Promise<void> {
  const there = workspace.receivers.slice(1).filter(({ exists }) => exists.latest());
  deps.ledger.counts.changes++;
  if (there.length === 0 || (there.length < MOST_RECEIVERS && random.chance(0.2))) {
    await register(deps, workspace, random);
    return;
  }
  const receiver = random.pick(there);
  const change = random.pick(CHANGES);
  await change(deps, workspace, receiver, random);
}

type ChangeOne = (deps: ChangeDeps, workspace: ChaosWorkspace, to: KnownEndpoint, random: Random) => Promise<void>;

const changeEvents: ChangeOne = async (deps, workspace, receiver, random) => {
  const events = TASK_EVENTS.filter(() => random.chance(0.6));
  const { effect } = await patch(deps, workspace, receiver, { events });
  receiver.events.change({ value: events, ...effect });
};

const move: ChangeOne = async (deps, workspace, receiver, random) => {
  const host = random.between(0, deps.origins.length - 1);
  const { effect } = await patch(deps, workspace, receiver, { url: urlOf(deps, host, receiver.path) });
  receiver.host.change({ value: host, ...effect });
};

const toggle: ChangeOne = async (deps, workspace, receiver) => {
  const enabled = !receiver.enabled.latest();
  const { effect } = await patch(deps, workspace, receiver, { enabled });
  receiver.enabled.change({ value: enabled, ...effect });
};

const rotate: ChangeOne = async ({ insist }, { client }, receiver, random) => {
  // During an overlap the old secret would stay in force after the rotation.
  const isInOverlap = receiver.secret.possible(Date.now(), Date.now()).length > 1;
  const overlapS = isInOverlap ? 0 : random.between(0, LONGEST_OVERLAP_S);
  await rotateSecret(insist, client.key, `/api/public/webhooks/${receiver.id}`, receiver, overlapS);
};

const remove: ChangeOne = async ({ insist }, { client }, receiver) => {
  const { status, text, effect } = await insist('DELETE', `/api/public/webhooks/${receiver.id}`, { key: client.key });
  // An earlier try without an answer has removed it.
  const wasGone = status === 404 && effect.isUnclear;
  if (status !== 200 && !wasGone) throw new Error(`the removal of ${receiver.id} was answered ${text}`);
  receiver.exists.change({ value: false, ...effect });
};

/** Repeated changes are more frequent than a removal. */
const CHANGES: readonly ChangeOne[] = [changeEvents, changeEvents, move, toggle, toggle, toggle, rotate, remove];

async function patch({ insist }: ChangeDeps, { client }: ChaosWorkspace, { id }: KnownEndpoint, body: object) {
  const answer = await insist('PATCH', `/api/public/webhooks/${id}`, { key: client.key, body });
  if (answer.status !== 200) throw new Error(`a change of ${id} was answered ${answer.text}`);
  return answer;
}

async function register(deps: ChangeDeps, workspace: ChaosWorkspace, random: Random): Promise<void> {
  const { client, folder, receivers } = workspace;
  const path = `${folder}/more-${random.between(0, 1e9)}`;
  const host = random.between(0, deps.origins.length - 1);
  const wanted = TASK_EVENTS.filter(() => random.chance(0.6));
  const from = Date.now();
  const body = { url: urlOf(deps, host, path), events: wanted };
  const answer = await insistOnce(deps.insist, '/api/public/webhooks', { key: client.key, body });
  if (!answer) {
    deps.onUnclear({ path, host, events: wanted, from });
    return;
  }
  if (answer.status !== 201) throw new Error(`a registration was answered ${answer.text}`);
  const { id, events, secret } = answer.body as { id: string; events: string[]; secret?: string };
  const made = { from, by: answer.effect.by, until: answer.effect.until };
  const endpoint = createKnownEndpoint({ id, workspaceId: client.id, path, events, host, secret }, made);
  deps.onReceiver(endpoint);
  receivers.push(endpoint);
}

function urlOf({ origins }: ChangeDeps, host: number, path: string): string {
  return `${origins[host] ?? ''}${path}`;
}
