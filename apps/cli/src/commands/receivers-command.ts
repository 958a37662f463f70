import {
  DEFAULT_ORDERING_TIMEOUT_MS,
  type EndpointId,
  EVENT_NAMES,
  type EventName,
  isCallbackId,
  NotFoundError,
  plainText,
  type WorkspaceId,
  writeDuration,
} from '@herald/core';
import { countOf } from '@herald/runtime/text';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-record';
import { createDeliveryStore } from '@herald/store/deliveries/delivery-store';
import { createCallbackStore } from '@herald/store/endpoints/callback-store';
import type { EndpointRecord } from '@herald/store/endpoints/endpoint-record';
import {
  createFindGroups,
  judgeEndpointHealth,
  createReceiverStore,
  walkReceivers,
} from '@herald/store/endpoints/receiver-store';
import { createWorkerPresence } from '@herald/store/operators/create-service-state-reader';
import { createSendTestEvent, type TestOutcome } from '@herald/store/test-events/send-test-event';
import { createTestEventStore } from '@herald/store/test-events/test-event-store';
import { createTestReplyListener } from '@herald/store/test-events/test-replies';
import { Command, Option } from 'commander';
import { type CommandDeps, examples, type JsonOption } from '../context/command-deps.ts';
import { bad, type Cell, doubtful, good, toDate } from '../context/create-output.ts';
import { findOwner, type Herald } from '../context/open-herald.ts';
import { readEndpointId, readReason, readReceiverId, readWorkspace } from '../context/read-arguments.ts';

type DisableOptions = JsonOption & { lock?: true; reason?: string };
type PauseOptions = JsonOption & { reason?: string };
type ListOptions = JsonOption & { workspace?: WorkspaceId; urls?: true };

/** `herald receivers`: lists, tests, pauses, disables and enables the receivers of customers; the last two also callbacks. */
export function createReceiversCommand({ openHerald, output, recordAct, startProgress }: CommandDeps): Command {
  const receivers = new Command('receivers').description(
    'list, test, pause, disable and enable the receivers of customers',
  );
  receivers
    .command('list')
    .description('every receiver, and its state; only the origin of its url, since the rest may contain tokens')
    .option('--workspace <id>', 'only those of this workspace', readWorkspace)
    .option('--urls', 'show whole urls')
    .addHelpText('after', examples('herald receivers list', 'herald receivers list --workspace ws_x --urls'))
    .action(async ({ workspace, urls, json }: ListOptions) => {
      const progress = startProgress('looking for receivers {bar} {percentage}%');
      await using herald = await openHerald();
      const list = await listReceivers(herald, workspace, urls === true, progress.show).finally(progress.stop);
      if (json) output.json(list);
      else
        output.table(
          RECEIVER_COLUMNS,
          list.map(toReceiverRow),
          workspace === undefined ? 'No receivers.' : `No receivers in ${workspace}.`,
        );
    });
  receivers
    .command('test')
    .description(
      'have a worker send a webhook.test now, also to a receiver that is disabled (but not locked), and print the answer',
    )
    .argument('<id>', 'of the receiver', readReceiverId)
    .addOption(
      new Option('--event <name>', 'send a sample of this event instead').choices(EVENT_NAMES).default('webhook.test'),
    )
    .addHelpText(
      'after',
      examples(
        'herald receivers test wh_01m7wyndtadddfeszmz5b3xx5r',
        'herald receivers test wh_01m7wyndtadddfeszmz5b3xx5r --event task.done',
      ),
    )
    .action(async (id: EndpointId, { json, event }: JsonOption & { event: EventName }) => {
      await using herald = await openHerald();
      const receiver = await findReceiver(herald, id);
      const outcome = await sendTestTo(herald, receiver, event);
      await recordAct(herald, { action: 'testReceiver', target: id, workspaceId: receiver.workspaceId });
      if (json) output.json({ id, ...outcome });
      const sentence = describeTest(outcome);
      if (!outcome.delivered) output.problem(sentence);
      else if (!json) output.line(sentence);
    });

  receivers
    .command('disable')
    .description('send nothing more to a receiver or a callback; its pending deliveries end as canceled')
    .argument('<id>', 'of the receiver (wh_…) or the callback (cb_…)', readEndpointId)
    .option('--lock', 'keep it disabled and as it is, whatever its customer does, until "enable" lifts that')
    .option('--reason <text>', 'why it is locked, in a sentence that the customer reads', readReason)
    .addHelpText(
      'after',
      examples(
        'herald receivers disable wh_01m7wyndtadddfeszmz5b3xx5r',
        'herald receivers disable wh_01m7wyndtadddfeszmz5b3xx5r --lock --reason "Its host asked us to stop."',
      ),
    )
    .action(async (id: EndpointId, { lock, reason, json }: DisableOptions, command: Command) => {
      if (reason !== undefined && !lock) command.error('error: --reason is the reason of a lock; give it with --lock');
      await using herald = await openHerald();
      const { isChanged, wasLocked, workspaceId } = await switchEndpoint(
        herald,
        id,
        lock ? { to: 'locked', reason } : { to: 'disabled' },
      );
      const action = `${lock ? 'lock' : 'disable'}${thingOf(id)}`;
      const act = { action, target: id, workspaceId, ...(reason !== undefined && { reason }) };
      if (isChanged) await recordAct(herald, act);
      const isLocked = lock === true || wasLocked;
      if (json) output.json({ id, enabled: false, locked: isLocked, changed: isChanged });
      else if (!isChanged) output.line(`${id} is ${isLocked ? 'locked' : 'disabled'} already; nothing was changed.`);
      else {
        const waiting = await countWaiting(herald, workspaceId, id);
        output.line(`${lock ? 'Locked' : 'Disabled'} ${id}. ${consequenceOf(id, lock === true)}${untilDone(waiting)}`);
      }
    });
  receivers
    .command('enable')
    .description('send to a disabled receiver or callback again; lifts a lock')
    .argument('<id>', 'of the receiver (wh_…) or the callback (cb_…)', readEndpointId)
    .addHelpText('after', examples('herald receivers enable wh_01m7wyndtadddfeszmz5b3xx5r'))
    .action(async (id: EndpointId, { json }: JsonOption) => {
      await using herald = await openHerald();
      const { isChanged, wasLocked, workspaceId } = await switchEndpoint(herald, id, { to: 'enabled' });
      const action = `${wasLocked ? 'unlock' : 'enable'}${thingOf(id)}`;
      if (isChanged) await recordAct(herald, { action, target: id, workspaceId });
      if (json) output.json({ id, enabled: true, locked: false, changed: isChanged });
      else if (!isChanged) output.line(`${id} is enabled already; nothing was changed.`);
      else {
        const done = wasLocked ? `Enabled ${id}, and lifted its lock.` : `Enabled ${id}.`;
        output.line(`${done} From now on it is sent to; ${bringBack(id)}.`);
      }
    });
  receivers
    .command('pause')
    .description('let what is sent to a receiver wait, whatever its customer does, until "resume"')
    .argument('<id>', 'of the receiver', readReceiverId)
    .option('--reason <text>', 'why, in a sentence that the customer reads', readReason)
    .addHelpText(
      'after',
      examples('herald receivers pause wh_01m7wyndtadddfeszmz5b3xx5r --reason "Its host asked for an hour of rest."'),
    )
    .action(async (id: EndpointId, { reason, json }: PauseOptions) => {
      await using herald = await openHerald();
      const { pausedAt, pausedReason, workspaceId } = await findReceiver(herald, id);
      const isChanged = pausedAt === undefined || pausedReason !== reason;
      if (isChanged) {
        const now = herald.now();
        if (!(await createReceiverStore(herald).pause(workspaceId, id, reason, now, pausedAt)))
          throw new NotFoundError('receiver', id);
        const more = reason === undefined ? {} : { reason };
        await recordAct(herald, { action: 'pauseReceiver', target: id, workspaceId, ...more });
      }
      if (json) output.json({ id, paused: true, changed: isChanged });
      else if (!isChanged) output.line(`${id} is paused already; nothing was changed.`);
      else output.line(`Paused ${id}. ${PAUSE_CONSEQUENCE}`);
    });
  receivers
    .command('resume')
    .description('let what waits for a paused receiver go, in its order')
    .argument('<id>', 'of the receiver', readReceiverId)
    .addHelpText('after', examples('herald receivers resume wh_01m7wyndtadddfeszmz5b3xx5r'))
    .action(async (id: EndpointId, { json }: JsonOption) => {
      await using herald = await openHerald();
      const { pausedAt, enabled, workspaceId } = await findReceiver(herald, id);
      const isChanged = pausedAt !== undefined;
      if (isChanged) {
        if (!(await createReceiverStore(herald).resume(workspaceId, id, herald.now())))
          throw new NotFoundError('receiver', id);
        await recordAct(herald, { action: 'resumeReceiver', target: id, workspaceId });
      }
      if (json) output.json({ id, paused: false, changed: isChanged });
      else if (!isChanged) output.line(`${id} is not paused; nothing was changed.`);
      else
        output.line(
          enabled
            ? `Resumed ${id}. What waits is sent now, in its order; "herald queues" shows how it goes.`
            : `Resumed ${id}, which is disabled: "herald receivers enable" sends to it again.`,
        );
    });
  return receivers;
}

const PAUSE_CONSEQUENCE =
  'Its deliveries wait and lose no try, redeliveries too; test events are sent. Its customer can\'t lift this: "herald receivers resume" does. What waits counts for WORKSPACE_PENDING_LIMIT, and fails as too_old after five days.';

function consequenceOf(id: EndpointId, isLocked: boolean): string {
  const undone = isLocked
    ? 'only "herald receivers enable" lifts the lock. A customer may still remove a locked receiver, and register its url again'
    : '"herald receivers enable" undoes this, and so can its customer; --lock keeps him from it';
  return `Its pending deliveries end as canceled; ${undone}. ${bringBack(id)}`;
}

/** What still waits for a receiver; of a callback others wait in the same group. */
async function countWaiting(herald: Herald, workspaceId: WorkspaceId, id: EndpointId): Promise<number> {
  if (isCallbackId(id)) return 0;
  const [group] = await createFindGroups(herald)([{ workspaceId, group: id }]);
  return group?.waiting ?? 0;
}

function untilDone(waiting: number): string {
  if (waiting === 0) return '';
  return `. ${countOf(waiting, 'delivery')} still to end, by a worker: "herald queues" shows what is left; enabled before that, the rest is sent`;
}

/** What it missed: a replay is for receivers only. */
function bringBack(id: EndpointId): string {
  if (!isCallbackId(id)) return '"herald replay" brings back what it missed';
  return `"herald deliveries redeliver" brings back each that "herald deliveries list --receiver ${id} --status canceled" shows`;
}

async function findReceiver(herald: Herald, id: EndpointId) {
  const receiver = await createReceiverStore(herald).find(await findOwner(herald, 'receiver', id), id);
  if (!receiver) throw new NotFoundError('receiver', id);
  return receiver;
}

const thingOf = (id: EndpointId) => (isCallbackId(id) ? 'Callback' : 'Receiver');

/** Receivers, by workspace and then by age. There is no index of all: without a workspace this looks at every key. */
async function listReceivers(
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
      pausedUntil: toDate(groups[index]?.heldUntil),
      nextProbeAt: groups[index]?.isOpen ? toDate(groups[index].nextProbeAt) : undefined,
      secretOverlapEndsAt: toDate(endOfOverlap(receiver, now())),
      headerNames,
      maxRetryHours,
      consecutiveFailures: health.consecutiveFailures,
      lastFailure: health.lastFailure && { ...health.lastFailure, at: new Date(health.lastFailure.at) },
      backlog: groups[index]?.due ?? 0,
      waitingForRate: groups[index]?.waitingForRate ?? 0,
      lastSuccessAt: toDate(health.lastSuccessAt) ?? null,
      createdAt: new Date(createdAt),
    };
  });
}
/** When the former secret ends, while a rotation of it overlaps. */
function endOfOverlap({ previousSecret }: EndpointRecord, now: number): number | undefined {
  return previousSecret && previousSecret.until > now ? previousSecret.until : undefined;
}

type ListedReceiver = Awaited<ReturnType<typeof listReceivers>>[number];

const RECEIVER_COLUMNS = ['id', 'workspace', 'url', 'events', 'state', 'since', 'backlog', 'last success'];

const PAINT = { healthy: good, failing: doubtful, paused: doubtful, disabled: bad };

function toReceiverRow(receiver: ListedReceiver): Cell[] {
  const { id, workspace, url, since, backlog, lastSuccessAt } = receiver;
  const hasAll = receiver.events.length === 0 || receiver.events.length === EVENT_NAMES.length;
  const events = hasAll ? 'all' : receiver.events.join(',');
  const state = PAINT[receiver.state](
    `${receiver.state}${detailOf(receiver)}${rateOf(receiver)}${rotationOf(receiver)}`,
  );
  return [id, workspace, url, events, state, since, backlog, lastSuccessAt ?? undefined];
}

function rateOf({ rateLimit, waitingForRate }: ListedReceiver): string {
  return rateLimit && waitingForRate > 0 ? `, ${waitingForRate} wait for its rate of ${rateLimit.perSecond}/s` : '';
}

function detailOf(receiver: ListedReceiver): string {
  const { state, disabledReason, disabledBy, lockedReason, pausedAt, pausedReason } = receiver;
  const { consecutiveFailures, lastFailure, pausedUntil, nextProbeAt } = receiver;
  if (state === 'disabled') {
    const by = disabledReason === 'by_request' && disabledBy !== undefined ? ` of ${disabledBy}` : '';
    const why = lockedReason === undefined ? '' : `: ${lockedReason}`;
    return disabledReason === undefined ? '' : ` (${disabledReason}${by}${why})`;
  }
  if (state === 'paused' && pausedAt)
    return ` (by an operator${pausedReason === undefined ? '' : `: ${pausedReason}`})`;
  const facts = [
    ...(consecutiveFailures > 0 ? [`${consecutiveFailures} in a row`] : []),
    ...(lastFailure ? [`last ${lastFailure.status ?? lastFailure.error}`] : []),
    ...(pausedUntil ? [`it asked for a pause until ${pausedUntil.toISOString()}`] : []),
    ...(nextProbeAt ? [`next probe ${nextProbeAt.toISOString()}`] : []),
  ];
  return state === 'healthy' || facts.length === 0 ? '' : ` (${facts.join(', ')})`;
}

function rotationOf({ secretOverlapEndsAt }: ListedReceiver): string {
  return secretOverlapEndsAt ? `, its old secret ends ${secretOverlapEndsAt.toISOString()}` : '';
}

/** What a receiver or a callback is to become. A lock can have a reason, which its customer reads. */
type Switch = { readonly to: 'enabled' | 'disabled' } | { readonly to: 'locked'; readonly reason: string | undefined };

/**
 * Enables, disables or locks a receiver or a callback, as the platform. Enabling lifts a lock; disabling leaves one.
 * @returns whether that changed anything, and whether it was locked before
 * @throws NotFoundError
 */
async function switchEndpoint(herald: Herald, id: EndpointId, change: Switch) {
  const thing = isCallbackId(id) ? 'callback' : 'receiver';
  const store = isCallbackId(id) ? createCallbackStore(herald) : createReceiverStore(herald);
  const workspaceId = await findOwner(herald, thing, id);
  const found = await store.find(workspaceId, id);
  if (!found) throw new NotFoundError(thing, id);
  const wasLocked = found.disabledReason === 'locked';
  const isSame =
    change.to === 'locked'
      ? wasLocked && found.lockedReason === change.reason
      : found.enabled === (change.to === 'enabled');
  if (isSame) return { isChanged: false, wasLocked, workspaceId };
  const now = herald.now();
  const isFound =
    change.to === 'locked'
      ? await store.lock(workspaceId, id, change.reason, now)
      : change.to === 'enabled'
        ? await store.unlock(workspaceId, id, now)
        : await store.patch(workspaceId, id, { enabled: false, by: 'platform' }, now);
  if (!isFound) throw new NotFoundError(thing, id);
  return { isChanged: true, wasLocked, workspaceId };
}

/** Has a worker send a test event or a sample, and waits for the outcome. @throws UnavailableError when none answers */
async function sendTestTo(herald: Herald, { workspaceId, id }: EndpointRecord, event: EventName) {
  const { config, redis, keyspace, connect, now } = herald;
  const retention = createDeliveryRetention(config.retentionMs, config.history !== undefined);
  const deliveries = createDeliveryStore({ redis, keys: keyspace.of(workspaceId), retention });
  const sendTestEvent = createSendTestEvent({
    findReceiver: createReceiverStore({ redis, keyspace }).find,
    countWorkers: createWorkerPresence(redis).count,
    testEvents: createTestEventStore({ redis, keyspace, retention }),
    cancel: (_workspaceId, deliveryId, at) => deliveries.cancel(deliveryId, 'not_sent_in_time', at),
    listenForReplies: createTestReplyListener(await connect()),
    report: { created: () => undefined, withdrawn: () => undefined, ended: () => undefined },
    now,
  });
  return await sendTestEvent(workspaceId, id, event);
}

/** Characters of an answer that are shown; --json has its first 1 KiB. */
const ANSWER_LENGTH = 200;

/** The outcome of a test event in a sentence, with the beginning of the answer and the id of the delivery. */
export function describeTest(outcome: TestOutcome): string {
  const { delivered, deliveryId, durationMs, error } = outcome;
  const what = error ?? answeredWith(outcome);
  const took = durationMs === undefined ? '' : ` after ${durationMs} ms`;
  return `${delivered ? 'Delivered' : 'Not delivered'} (${deliveryId}): ${what}${took}${answerOf(outcome)}.`;
}

function answeredWith({ receiverStatus, bodyNote }: TestOutcome): string {
  return `it answered ${receiverStatus}${bodyNote === undefined ? '' : ` (${bodyNote})`}`;
}

function answerOf(outcome: TestOutcome): string {
  const answer = plainText(outcome.answer ?? '').trim();
  if (answer === '') return '';
  return `, "${answer.length > ANSWER_LENGTH ? `${answer.slice(0, ANSWER_LENGTH)}…` : answer}"`;
}
