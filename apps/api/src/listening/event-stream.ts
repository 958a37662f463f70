import type { Response } from 'express';

/** Why a stream ends, other than by its reader. */
export type EndReason = 'stopping' | 'key_ended' | 'place_taken' | 'too_slow';

const DETAILS: Readonly<Record<EndReason, string>> = {
  stopping: 'this process is stopping; connect again',
  key_ended: 'the API key has expired or was revoked',
  place_taken: 'Redis was away, and others took the place of this listener meanwhile; connect again',
  too_slow: 'this reader took its events too slowly; connect again, and read faster',
};

/** What may wait for a slow reader, in bytes. The system keeps some more. */
const UNREAD_LIMIT_BYTES = 1024 * 1024;
/** How long a reader has to take the last words, in ms. */
const LAST_WORDS_MS = 5_000;

/** Answers a request with server-sent events (the HTML standard, section 9.2), and keeps the answer open. */
export function openEventStream(res: Response, unreadLimitBytes = UNREAD_LIMIT_BYTES) {
  res.set({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }).flushHeaders();
  let isOpen = true;
  const write = (text: string) => {
    if (!isOpen) return;
    res.write(text);
    if (res.writableLength > unreadLimitBytes) end('too_slow');
  };
  /** @param data without line ends */
  const send = (event: string, data: string, id?: string) => {
    write(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`);
  };
  const end = (reason: EndReason) => {
    if (!isOpen) return;
    isOpen = false;
    res.end(`event: end\ndata: ${JSON.stringify({ reason, detail: DETAILS[reason] })}\n\n`);
    const timer = setTimeout(() => res.destroy(), LAST_WORDS_MS);
    res.once('close', () => {
      clearTimeout(timer);
    });
  };
  return {
    send,
    /** Readers ignore it. It keeps proxies from closing a silent connection. */
    beat: () => {
      write(': still here\n\n');
    },
    end,
  };
}
export type EventStream = ReturnType<typeof openEventStream>;
