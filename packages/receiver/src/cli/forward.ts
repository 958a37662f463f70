import { readFileSync } from 'node:fs';
import { sign } from '../signatures.ts';

/** A delivery to a local program. */
export type LocalDelivery = {
  readonly id: string;
  readonly event: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly isSample?: true;
};

export type ForwardTarget = { readonly url: URL; readonly secret: string; readonly now: () => number };

/** As long as Herald waits by default, in ms. */
const TIMEOUT_MS = 15_000;
const SHOWN_CHARACTERS = 200;

export const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/**
 * Sends a delivery as Herald does: the same headers, the same bytes, and no redirect is followed.
 * @returns whether it was taken, and the answer in words
 */
export async function forward(
  { id, event, body, isSample }: LocalDelivery,
  { url, secret, now }: ForwardTarget,
): Promise<{ readonly isTaken: boolean; readonly words: string }> {
  const startedAt = performance.now();
  const headers = {
    'content-type': 'application/json',
    'user-agent': `Herald/${version}`,
    ...(isSample && { 'x-service-sample': 'true' }),
    ...sign({ rawBody: body, secret, id, event, nowMs: now() }),
  };
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    const text = await answer.text();
    const isTaken = answer.status >= 200 && answer.status < 300;
    const took = `in ${Math.round(performance.now() - startedAt)} ms`;
    const why = isTaken ? '' : ` ${shown(text)}`;
    return { isTaken, words: `${answer.status} ${answer.statusText} ${took}${why}`.replaceAll('  ', ' ').trimEnd() };
  } catch (error) {
    return { isTaken: false, words: `no answer: ${wordsOf(error)}` };
  }
}

/** One line of it, without what a terminal would take for commands. */
function shown(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, SHOWN_CHARACTERS);
}

type Failure = { readonly name?: string; readonly message?: string; readonly cause?: Failure; readonly code?: string };

/** Why a request failed. `fetch` hides the cause. */
export function wordsOf(error: unknown): string {
  const { name, message, cause } = (error ?? {}) as Failure;
  if (name === 'TimeoutError') return `nothing within ${TIMEOUT_MS / 1_000} s`;
  if (cause?.code === 'ECONNREFUSED') return 'connection refused (does it run, and on this port?)';
  // Of several addresses that were tried, the cause has a code alone.
  return [cause?.message, cause?.code, message].find(Boolean) ?? String(error);
}
