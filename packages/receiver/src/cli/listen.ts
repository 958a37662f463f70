import { setTimeout as pause } from 'node:timers/promises';
import { findSecrets, readEventNames, readKey, readUrl, secretOf, type Terminal } from './arguments.ts';
import { forward, type ForwardTarget, wordsOf } from './forward.ts';

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
  const api = readUrl(values.api ?? env.HERALD_URL, '--api');
  const key = readKey(values.key ?? env.HERALD_KEY);
  const url = readUrl(values['forward-to'], '--forward-to');
  const events = readEventNames(values.events);
  const given = findSecrets(values.secret, env);
  const secret = given?.[0] ?? secretOf(key, api.origin);
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

type ListenTarget = { readonly api: URL; readonly key: string; readonly events: readonly string[] };

/**
 * How a connection ended. `refused`: connecting again with the same arguments is useless. `full`: all places are
 * taken. `lost`: it may be there again soon.
 */
export type Ending = { readonly kind: 'refused' | 'full' | 'lost'; readonly why: string };

/** Herald sends something every ten seconds. */
const SILENCE_MS = 30_000;

/** Connects once, and calls back with each event until the stream ends. */
export async function connect(
  { api, key, events }: ListenTarget,
  onEvent: (event: StreamEvent) => Promise<void> | void,
): Promise<Ending> {
  const url = new URL(`${api.href.replace(/\/$/, '')}/api/public/listen`);
  if (events.length > 0) url.searchParams.set('events', events.join(','));
  const silence = new AbortController();
  const timer = setTimeout(() => {
    silence.abort(new Error(`nothing came for ${SILENCE_MS / 1_000} s`));
  }, SILENCE_MS);
  try {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` }, signal: silence.signal });
    if (!answer.headers.get('content-type')?.startsWith('text/event-stream')) return await readRefusal(answer, url);
    let last: StreamEvent = {};
    for await (const event of readStream(answer.body as unknown as AsyncIterable<Uint8Array>)) {
      timer.refresh();
      if (event.event === 'end') last = event;
      else if (event.event !== undefined) await onEvent(event);
    }
    return { kind: 'lost', why: last.data === undefined ? 'the connection was closed' : detailIn(last.data) };
  } catch (error) {
    return { kind: 'lost', why: wordsOf(error) };
  } finally {
    clearTimeout(timer);
    silence.abort(); // the connection of a stream that is still open, because a callback failed
  }
}

/** What Herald said instead of a stream. */
async function readRefusal(answer: Response, { origin }: URL): Promise<Ending> {
  const text = await answer.text();
  if (answer.status >= 500) return { kind: 'lost', why: `${origin} answered ${answer.status}` };
  if (!answer.headers.get('content-type')?.startsWith('application/problem+json')) {
    return { kind: 'refused', why: `${origin} answered ${answer.status} and is no Herald: give its origin with --api` };
  }
  if (answer.status === 429) return { kind: 'lost', why: detailIn(text) };
  const { code } = JSON.parse(text) as { code?: string };
  if (code === 'route_not_found') {
    return { kind: 'refused', why: `the Herald at ${origin} has no /api/public/listen yet: it needs a newer release` };
  }
  return { kind: code === 'listener_limit_reached' ? 'full' : 'refused', why: detailIn(text) };
}

function detailIn(json: string): string {
  return String((JSON.parse(json) as { detail?: unknown }).detail);
}

/** One server-sent event; a comment, which only shows that the connection lives, has none of the fields. */
export type StreamEvent = { readonly event?: string; readonly data?: string; readonly id?: string };

/** Reads server-sent events (the HTML standard, section 9.2) as Herald writes them. */
export async function* readStream(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      yield readFields(text.slice(0, end));
      text = text.slice(end + 2);
    }
  }
}

function readFields(block: string): StreamEvent {
  const fields: Record<string, string> = {};
  for (const line of block.split('\n')) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) fields[name] = value;
  }
  return fields;
}
