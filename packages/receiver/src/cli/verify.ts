import { readFileSync } from 'node:fs';
import { DEFAULT_TOLERANCE_S } from '../signatures.ts';
import { describeRefusal, verifyDelivery, type Refusal } from '../verify-delivery.ts';
import { readSecrets, UsageError, type Terminal } from './arguments.ts';

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
    const judged = verifyDelivery({ rawBody: body, headers: request.headers, secrets, nowMs: sentAt });
    return judged.kind === 'refused' && judged.reason !== 'event_format' ? judged.reason : undefined;
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
  if (Math.abs(ageS) > DEFAULT_TOLERANCE_S) {
    say(
      `Sent again now, it would be refused as a replay: it is ${ageS} s old, and ${DEFAULT_TOLERANCE_S} s are allowed.`,
    );
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

type SavedRequest = { readonly headers: Readonly<Record<string, string>>; readonly body: Buffer };

const HEADER = /^([A-Za-z0-9-]+): ?(.*)$/;
/** As `POST /hook HTTP/1.1`, before the headers of a request that was saved whole. */
const REQUEST_LINE = /^[A-Z]+ \S+ HTTP\/[\d.]+$/;

/**
 * Reads a request as HTTP has it: headers, an empty line, and the body, byte for byte.
 * @throws UsageError that says what is missing
 */
function readSavedRequest(file: Buffer): SavedRequest {
  const end = /\r?\n\r?\n/.exec(file.toString('latin1'));
  if (!end)
    throw new UsageError('the file has no empty line: save the headers, an empty line, and the body as it came');
  const lines = file.toString('utf8', 0, end.index).split(/\r?\n/);
  if (REQUEST_LINE.test(lines[0] ?? '')) lines.shift();
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, name, value] = HEADER.exec(line) ?? [];
    if (name === undefined || value === undefined) {
      throw new UsageError(`"${line.slice(0, 80)}" before the empty line is no header: write each as name: value`);
    }
    headers[name.toLowerCase()] = value.trim();
  }
  return { headers, body: file.subarray(end.index + end[0].length) };
}
