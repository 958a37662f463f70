import { randomBytes } from 'node:crypto';
import type { EventName } from '../event.ts';
import { readEventName, readSecrets, readUrl, type Terminal } from './arguments.ts';
import { forward } from './forward.ts';

/** Sends one sample of an event to a local program. Herald has no part in it. */
export async function runTrigger(
  { env, say, warn, now }: Terminal,
  values: Readonly<Record<string, string | undefined>>,
  [name]: readonly string[],
): Promise<number> {
  const event = readEventName(name);
  const url = readUrl(values['forward-to'], '--forward-to');
  const [secret = ''] = readSecrets(values.secret, env);
  const id = `dlv_sample${randomBytes(10).toString('hex')}`;
  const body = new TextEncoder().encode(renderSample(event, now()));
  const isSample = event !== 'webhook.test';
  const { isTaken, words } = await forward({ id, event, body, ...(isSample && { isSample }) }, { url, secret, now });
  (isTaken ? say : warn)(`${event}  ${id}  → ${words}`);
  return isTaken ? 0 : 1;
}

const OUTCOME = { summary: 'This is a sample: the invoice is drafted.', progress: 0.5 };

/** What each event says besides the fields of all, in the order of Herald's own samples. */
const SAMPLES: Readonly<
  Record<Exclude<EventName, 'webhook.test'>, { readonly status: string; readonly more: object }>
> = {
  'task.check_in': { status: 'running', more: { outcome: OUTCOME } },
  'task.requires_action': {
    status: 'requires_action',
    more: {
      outcome: OUTCOME,
      approval_request: { id: 'sample', title: 'Pay the invoice', description: '12 EUR' },
      action_version: 1,
      decision_items: [
        { id: 'yes', label: 'Pay' },
        { id: 'no', label: 'Refuse' },
      ],
      api_resolvable: true,
      action_url: 'https://app.example.com/tasks/{taskId}/actions/1',
    },
  },
  'task.done': { status: 'done', more: {} },
  'task.canceled': { status: 'canceled', more: {} },
};

/** The body of a sample of an event, of a Task that doesn't exist. */
export function renderSample(event: EventName, now: number): string {
  const ending = randomBytes(10).toString('hex');
  const created_at = new Date(now).toISOString();
  if (event === 'webhook.test') return JSON.stringify({ id: `trn_${ending}`, event, created_at });
  const { status, more } = SAMPLES[event];
  const task = { id: `task_sample${ending}`, status };
  const body = { id: `trn_sample${ending}`, event, created_at, sequence: 1, task, ...more };
  return JSON.stringify(body).replace('{taskId}', task.id);
}
