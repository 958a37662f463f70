import { UsageError } from '../arguments/usage.ts';

export type SavedRequest = { readonly headers: Readonly<Record<string, string>>; readonly body: Buffer };

const HEADER = /^([A-Za-z0-9-]+): ?(.*)$/;
/** As `POST /hook HTTP/1.1`, before the headers of a request that was saved whole. */
const REQUEST_LINE = /^[A-Z]+ \S+ HTTP\/[\d.]+$/;

/**
 * Reads a request as HTTP has it: headers, an empty line, and the body, byte for byte.
 * @throws UsageError that says what is missing
 */
export function readSavedRequest(file: Buffer): SavedRequest {
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
