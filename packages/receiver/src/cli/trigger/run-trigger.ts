import { randomBytes } from 'node:crypto';
import { forward } from '../sending/forward.ts';
import { readEventName, readSecrets, readUrl } from '../arguments/read-options.ts';
import type { Terminal } from '../arguments/terminal.ts';
import { renderSample } from './render-sample.ts';

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
