import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sign } from '../signatures.ts';
import { UsageError } from './arguments.ts';
import { runVerify } from './verify.ts';

const SECRET = `whsec_${Buffer.alloc(32, 'k').toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 'o').toString('base64')}`;
const SENT_AT = Date.UTC(2030, 0, 2);
const BODY = '{"event":"task.done","text":"Grüße"}';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'herald-verify-'));
});
afterAll(() => {
  rmSync(dir, { recursive: true });
});

const headers = sign({ rawBody: BODY, secret: SECRET, id: 'dlv_1', nowMs: SENT_AT });
const save = (lines: readonly string[], body = BODY, lineEnd = '\r\n') =>
  `${lines.join(lineEnd)}${lineEnd}${lineEnd}${body}`;
const lines = Object.entries(headers).map(([name, value]) => `${name.toUpperCase()}: ${value}`);

async function verify(file: string, { secret = SECRET, now = SENT_AT + 1_000 } = {}) {
  const path = join(dir, 'request');
  writeFileSync(path, file);
  const said: string[] = [];
  const say = (line: string) => void said.push(line);
  const code = await runVerify({ env: {}, say, warn: say, now: () => now }, { secret }, [path]);
  return { code, said };
}

test.each([
  ['as it came', save(lines)],
  ['with its request line', save(['POST /hooks?a=b HTTP/1.1', 'host: me', ...lines])],
  ['with line ends of Unix', save(lines, BODY, '\n')],
])('a request that was saved %s holds', async (_how, file) => {
  expect(await verify(file)).toEqual({
    code: 0,
    said: ['Both signatures hold: dlv_1, sent 2030-01-02T00:00:00.000Z.'],
  });
});

test('one of several secrets is enough, and the age is told apart', async () => {
  const { code, said } = await verify(save(lines), { secret: `${OTHER},${SECRET}`, now: SENT_AT + 3_600_000 });
  expect(code).toBe(0);
  expect(said[1]).toBe('Sent again now, it would be refused as a replay: it is 3600 s old, and 300 s are allowed.');
});

test.each<[string, string, string | undefined, RegExp[]]>([
  ['another secret', save(lines), OTHER, [/\(service_signature_wrong\): x-service-signature was made with none of/]],
  [
    'a line end that an editor added',
    save(lines, `${BODY}\n`),
    undefined,
    [/service_signature_wrong/, /Without the line end/],
  ],
  ['another body', save(lines, `${BODY} \n`), undefined, [/service_signature_wrong/]],
  ['another id', save(lines.map((line) => line.replace('dlv_1', 'dlv_2'))), undefined, [/standard_signature_wrong/]],
  ['no timestamp', save(lines.filter((line) => !line.includes('TIMESTAMP'))), undefined, [/standard_headers_missing/]],
])('%s doesn’t hold, and it says why', async (_what, file, secret, sentences) => {
  const { code, said } = await verify(file, secret === undefined ? {} : { secret });
  expect(code).toBe(1);
  expect(said).toEqual(sentences.map((sentence) => expect.stringMatching(sentence) as string));
});

test.each([
  ['no empty line', lines.join('\n'), /has no empty line/],
  ['what is no header', save([...lines, 'no header']), /"no header" before the empty line is no header/],
])('a file with %s is refused with what to change', async (_what, file, sentence) => {
  const refused = verify(file);
  await expect(refused).rejects.toThrow(UsageError);
  await expect(refused).rejects.toThrow(sentence);
});
