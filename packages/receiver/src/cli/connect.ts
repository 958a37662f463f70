import { wordsOf } from './forward.ts';

export type ListenTarget = { readonly api: URL; readonly key: string; readonly events: readonly string[] };

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
