import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { RequestOptions } from '../tests/support/http-request.ts';
import type { Insist } from './patient-client.ts';

const TRY_LIMIT = 10;
const PAUSE_MS = 300;

/**
 * A POST that takes effect once, by an Idempotency-Key. Undefined: its process died while it held the record's lease,
 * which lasts a minute.
 */
export async function insistOnce(insist: Insist, path: string, options: RequestOptions) {
  const headers = { 'idempotency-key': randomUUID() };
  const from = Date.now();
  let until = 0;
  for (let tries = 0; tries < TRY_LIMIT; tries++) {
    const answer = await insist('POST', path, { ...options, headers });
    until = Math.max(until, answer.effect.until);
    const { code } = answer.body as { code?: string };
    if (code !== 'request_in_progress') return { ...answer, effect: { from, by: answer.effect.by, until } };
    await pause(PAUSE_MS);
  }
  return undefined;
}
