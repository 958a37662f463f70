import { messageOf, startReceiver, waitFor } from '@herald/test-kit';
import { setTimeout as pause } from 'node:timers/promises';
import type { DemoService } from './find-service.ts';
import { findFaults, type Timeline } from './timeline.ts';

const DEADLINE_MS = 10_000;
const QUIET_MS = 500;
const APPROVAL_ID = 'apr_demo';

const EXPECTED = [
  ['receiver', 'task.check_in'],
  ['receiver', 'task.requires_action'],
  ['receiver', 'task.done'],
  ['receiver', 'webhook.test'],
  ['callback', 'task.check_in'],
  ['callback', 'task.requires_action'],
  ['callback', 'task.done'],
] as const;

/**
 * Takes one Task through its life, with a real receiver. Returns the problems as sentences. When `aborted`, it removes
 * its receiver and throws.
 */
export async function playDemo(service: DemoService, timeline: Timeline, aborted: AbortSignal): Promise<string[]> {
  const call = createCall(service.apiUrl, service.apiKey, aborted);
  const report = createCall(service.apiUrl, service.executorKey, aborted);
  const removeReceiver = createCall(service.apiUrl, service.apiKey);
  await using receiver = await startReceiver({
    ca: service.ca,
    respond: (request) => {
      timeline.arrive(request.path === '/callback' ? 'callback' : 'receiver', request);
      return 204;
    },
  });

  const registered = await call('POST', '/api/public/webhooks', { url: receiver.url, description: 'npm run demo' });
  const receiverPath = `/api/public/webhooks/${String(registered.id)}`;
  await using cleanUp = new AsyncDisposableStack();
  cleanUp.defer(async () => {
    await removeReceiver('DELETE', receiverPath);
    timeline.note('receiver removed');
  });
  timeline.trust('receiver', registered.secret);
  timeline.note(`receiver ${String(registered.id)} registered, all events`);

  const task = await call('POST', '/tasks', {
    input: { text: 'book a flight' },
    callback: { url: `${receiver.origin}/callback` },
  });
  timeline.trust('callback', (task.callback as { secret?: unknown } | undefined)?.secret);
  const taskPath = `/tasks/${String(task.id)}`;
  timeline.note(`Task ${String(task.id)} created, with a callback`);
  const transition = async (type: string, fields: object = {}) => {
    await report('POST', `/api/internal${taskPath}/transitions`, { type, ...fields });
    timeline.note(`executor reported ${type}`);
  };

  /** Waits until both have it, or for the deadline: the end counts missing ones. */
  const bothHave = async (event: string) => {
    const endpoints = () => timeline.arrivals.filter((arrival) => arrival.event === event).map((a) => a.endpoint);
    const isThere = () => {
      aborted.throwIfAborted();
      return new Set(endpoints()).size === 2;
    };
    await waitFor(`${event} at receiver and callback`, isThere, DEADLINE_MS).catch((error: unknown) => {
      aborted.throwIfAborted();
      timeline.note(messageOf(error));
    });
  };

  await transition('start');
  const outcome = { summary: 'Two flights found' };
  await transition('checkpoint', { checkpointId: 'flights', canonical: true, material: true, outcome });
  await bothHave('task.check_in');
  await transition('action_required', {
    actionVersion: 1,
    approvalRequests: [{ id: APPROVAL_ID, primary: true, title: 'Book the morning flight?' }],
    decisionItems: [
      { id: 'approve', label: 'Book it' },
      { id: 'reject', label: 'Do not book' },
    ],
    apiResolvable: true,
    outcome,
  });
  await bothHave('task.requires_action');
  await call('POST', `${taskPath}/approvals/${APPROVAL_ID}/resolve`, { decision: 'approve', actionVersion: 1 });
  timeline.note('approval resolved: approve');
  await transition('done', { result: { booking: 'AB123' }, outcome: { summary: 'Booked' }, usage: { seconds: 3 } });
  await bothHave('task.done');

  const test = await call('POST', `${receiverPath}/test`);
  timeline.note(`test event: delivered ${String(test.delivered)}, receiver status ${String(test.receiverStatus)}`);

  await pause(QUIET_MS, undefined, { signal: aborted }); // a double would come now
  const untested = test.delivered === true ? [] : ['the test operation says that its event was not delivered'];
  return [...untested, ...findFaults(timeline.arrivals, EXPECTED)];
}

type Call = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) => Promise<Record<string, unknown>>;

/** Calls the API with one key. An answer other than 2xx is an error with the text of the problem. */
function createCall(apiUrl: string, key: string, aborted?: AbortSignal): Call {
  return async (method, path, body) => {
    const response = await fetch(apiUrl + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.any([AbortSignal.timeout(30_000), ...(aborted ? [aborted] : [])]),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
}
