import { setTimeout as pause } from 'node:timers/promises';
import { findSecrets, newSecret, readEventNames, readKey, readUrl, type Terminal } from './arguments.ts';
import { connect, type StreamEvent } from './connect.ts';
import { forward, type ForwardTarget } from './forward.ts';

/** Requests to the local program at a time. What comes meanwhile waits, and Herald ends the stream when it is too much. */
const AT_ONCE = 10;

/**
 * Forwards the events of a workspace to a local program. Runs until it is killed.
 * @returns 1 when Herald refuses it for good
 */
export async function runListen(
  { env, say, warn, now }: Terminal,
  values: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const api = readUrl(values.api ?? env.HERALD_API, '--api');
  const key = readKey(values.key ?? env.HERALD_KEY);
  const url = readUrl(values['forward-to'], '--forward-to');
  const events = readEventNames(values.events);
  const given = findSecrets(values.secret, env);
  const secret = given?.[0] ?? newSecret();
  say(
    given ? 'Signing with your secret.' : `Signing with ${secret}\nGive it to your program: HERALD_SECRETS=${secret}`,
  );

  const deliver = createDeliver({ url, secret, now }, { say, warn, now });
  const delay = createRetryDelay();
  let connections = 0;
  for (;;) {
    const ending = await connect({ api, key, events }, async (event) => {
      if (event.event !== 'listening') {
        await deliver(event);
        return;
      }
      const what = events.length > 0 ? events.join(', ') : 'every event';
      say(
        connections > 0
          ? 'Connected again. What happened meanwhile is not shown; receivers got it as always.'
          : `Listening at ${api.origin} to ${what}; forwarding to ${url.href} (Ctrl-C ends)`,
      );
      connections++;
      delay.reset();
    });
    // The places of listeners that died with their API are free after a while.
    if (ending.kind === 'refused' || (ending.kind === 'full' && connections === 0)) {
      warn(`Herald refused: ${ending.why}`);
      return 1;
    }
    const waitMs = delay.next();
    warn(`Not connected: ${ending.why}. Trying again in ${(waitMs / 1_000).toFixed(1)} s.`);
    await pause(waitMs);
  }
}

/** Forwards an event and prints the answer when it is there. Resolves at once while few are under way. */
function createDeliver(target: ForwardTarget, { say, warn, now }: Omit<Terminal, 'env'>) {
  const underWay = new Set<Promise<void>>();
  return async function deliver({ event = '', id = '', data = '' }: StreamEvent): Promise<void> {
    const body = new TextEncoder().encode(data);
    const sending = forward({ id, event, body }, target).then(({ isTaken, words }) => {
      (isTaken ? say : warn)(`${clockTime(now())}  ${event.padEnd(20)}  ${taskIn(data)}  ${id}  → ${words}`);
      underWay.delete(sending);
    });
    underWay.add(sending);
    if (underWay.size >= AT_ONCE) await Promise.race(underWay);
  };
}

/** As the clock of this machine shows it. */
function clockTime(now: number): string {
  return new Date(now - new Date(now).getTimezoneOffset() * 60_000).toISOString().slice(11, 23);
}

function taskIn(body: string): string {
  return (JSON.parse(body) as { task?: { id?: string } }).task?.id ?? '';
}

const FIRST_MS = 500;
const MOST_MS = 30_000;
const JITTER = 0.2;

/** How long to wait before connecting again: twice as long each time, so that a Herald that starts isn't overrun. */
export function createRetryDelay(random: () => number = Math.random) {
  let nextMs = FIRST_MS;
  return {
    next(): number {
      const waitMs = nextMs * (1 + JITTER * (2 * random() - 1));
      nextMs = Math.min(MOST_MS, nextMs * 2);
      return Math.round(waitMs);
    },
    /** A connection was made. */
    reset(): void {
      nextMs = FIRST_MS;
    },
  };
}
