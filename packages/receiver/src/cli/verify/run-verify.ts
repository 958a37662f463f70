import { readFileSync } from 'node:fs';
import { judgeDelivery, type Refusal } from '../../signatures/judge-delivery.ts';
import { describeRefusal } from '../../signatures/describe-refusal.ts';
import { readSecrets } from '../arguments/read-options.ts';
import type { Terminal } from '../arguments/terminal.ts';
import { UsageError } from '../arguments/usage.ts';
import { readSavedRequest, type SavedRequest } from './read-saved-request.ts';

const TOLERANCE_S = 300;

/** Says whether the signatures of a saved request hold. Its age is told apart: every saved request is old. */
export async function runVerify(
  { env, say, warn, now }: Terminal,
  values: Readonly<Record<string, string | undefined>>,
  [path]: readonly string[],
): Promise<number> {
  const secrets = readSecrets(values.secret, env);
  const request = readSavedRequest(readFile(path));
  const sentAt = Number(request.headers['webhook-timestamp']) * 1_000;
  const judge = (body: Buffer) => {
    const judged = judgeDelivery({ rawBody: body, headers: request.headers, secrets, mode: 'both' }, { nowMs: sentAt });
    return judged.kind === 'refused' ? judged.reason : undefined;
  };
  const reason = judge(request.body);
  if (reason !== undefined) {
    warn(`It doesn't hold (${reason}): ${describeRefusal(reason)}.`);
    const hint = findHint(request, reason, judge);
    if (hint !== undefined) warn(hint);
    return await Promise.resolve(1);
  }
  say(`Both signatures hold: ${request.headers['webhook-id'] ?? ''}, sent ${new Date(sentAt).toISOString()}.`);
  const ageS = Math.round((now() - sentAt) / 1_000);
  if (Math.abs(ageS) > TOLERANCE_S) {
    say(`Sent again now, it would be refused as a replay: it is ${ageS} s old, and ${TOLERANCE_S} s are allowed.`);
  }
  return 0;
}

function readFile(path: string | undefined): Buffer {
  if (path === undefined) throw new UsageError('the file is missing: name the saved request, or - for standard input');
  try {
    return readFileSync(path === '-' ? 0 : path);
  } catch (error) {
    throw new UsageError(`${path} can't be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** What saving often does to a body. */
function findHint({ body }: SavedRequest, reason: Refusal, judge: (body: Buffer) => Refusal | undefined) {
  if (!reason.endsWith('_wrong')) return undefined;
  const withoutLineEnd = /\r?\n$/.exec(body.toString('latin1'));
  if (withoutLineEnd && judge(body.subarray(0, withoutLineEnd.index)) === undefined) {
    return 'Without the line end at the end of the file it holds: an editor has added that.';
  }
  return undefined;
}
