import { bad, type Cell, createOutput, relativeText } from './create-output.ts';

const NOW = Date.UTC(2030, 0, 31, 12);
const ESCAPE = '\u001b';

function record(isTTY: boolean, env: NodeJS.ProcessEnv = {}) {
  const written = { stdout: '', stderr: '', exitCode: 0 };
  const output = createOutput({
    stdout: { isTTY, write: (text: string | Uint8Array) => ((written.stdout += String(text)), true) },
    stderr: { write: (text: string | Uint8Array) => ((written.stderr += String(text)), true) },
    env,
    now: () => NOW,
    setExitCode: (code) => (written.exitCode = code),
  });
  return { output, written };
}

const ROWS: Cell[][] = [
  ['wh_1', bad('failed'), new Date(NOW - 180_000)],
  ['wh_22', 7, undefined],
];

test('a terminal gets aligned columns, relative times and colours, and no blanks at the end', () => {
  const { output, written } = record(true);
  output.table(['id', 'status', 'at'], ROWS, 'none');
  expect(written.stdout).toContain(`${ESCAPE}[31mfailed`);
  // oxlint-disable-next-line no-control-regex -- colours
  expect(written.stdout.replace(/\u001b\[\d+m/g, '').split('\n')).toEqual([
    'ID     STATUS  AT',
    'wh_1   failed  3 min ago',
    'wh_22  7       -',
    '',
  ]);
});

test.each([{ NO_COLOR: '1' }, { TERM: 'dumb' }])('with %j a terminal gets no colours', (env) => {
  const { output, written } = record(true, env);
  output.table(['id', 'status', 'at'], ROWS, 'none');
  expect(written.stdout).not.toContain(ESCAPE);
});

test('a pipe gets tab-separated values with exact times, and the names of the columns also when there is nothing', () => {
  const { output, written } = record(false);
  output.table(['id', 'status', 'at'], ROWS, 'none');
  output.table(['id'], [], 'none');
  expect(written.stdout).toBe('id\tstatus\tat\nwh_1\tfailed\t2030-01-31T11:57:00.000Z\nwh_22\t7\t\nid\n');
});

test.each([
  ['a terminal on stdout', true, { stdout: 'No keys.\n', stderr: '' }],
  ['a pipe on stderr, beside the names of the columns', false, { stdout: 'id\n', stderr: 'No keys.\n' }],
])('an empty table is a sentence: for %s', (_what, isTTY, expected) => {
  const { output, written } = record(isTTY);
  output.table(['id'], [], 'No keys.');
  expect(written).toMatchObject(expected);
});

test.each([
  [true, 'later (in 3 min)\n'],
  [false, 'later (2030-01-31T12:03:00.000Z)\n'],
])('a time within a text is shown like any other; on a terminal: %j', (isTTY, text) => {
  const { output, written } = record(isTTY, { NO_COLOR: '1' });
  output.table(['next'], [[{ before: 'later (', at: new Date(NOW + 180_000), after: ')' }]], 'none');
  expect(written.stdout.toLowerCase()).toBe(`next\n${text.toLowerCase()}`);
});

test('text of others can’t control a terminal, and breaks no line', () => {
  const { output, written } = record(false);
  output.table(['a', 'b'], [[`x${ESCAPE}[2Jy`, 'one\ttwo\nthree\u202egnp']], 'none');
  expect(written.stdout).toBe('a\tb\nx [2Jy\tone two three gnp\n');
});

test('text of others in a JSON document is the same text, and can’t control a terminal either', () => {
  const { output, written } = record(false);
  const answer = `x${ESCAPE}[2J\u009b31m\u202e\u2028\u007f\u{e0041}<b>é👍`;
  output.json({ answer });
  expect(JSON.parse(written.stdout)).toEqual({ answer });
  expect(written.stdout).toContain('\\u009b31m\\u202e\\u2028\\u007f\\udb40\\udc41<b>é👍');
  expect(written.stdout).not.toMatch(/[\p{Cf}\p{Zl}\p{Zp}]|(?!\n)\p{Cc}/u);
});

test('what is undefined is null in a JSON document, however deep', () => {
  const { output, written } = record(false);
  output.json({ at: new Date(NOW), end: undefined, list: [{ name: undefined }] });
  expect(JSON.parse(written.stdout)).toEqual({ at: '2030-01-31T12:00:00.000Z', end: null, list: [{ name: null }] });
});

test.each([
  ['there is no key hrld_0123456789abcdef_aB3 here', 'there is no key hrld_… here'],
  ["value 'hrlp_abc' is invalid, and HRLD_ABC too", "value 'hrlp_…' is invalid, and HRLD_… too"],
  ['unknown option whsec_a+b/c=.', 'unknown option whsec_….'],
  ['a key starts with hrld_', 'a key starts with hrld_'],
])('%j goes to stderr without its credentials', (text, shown) => {
  const { output, written } = record(false);
  output.note(text);
  output.problem(text);
  expect(written.stderr).toBe(`${shown}\n${shown}\n`);
});

test('facts are shown one a line, relative and exact, without unknown ones', () => {
  const { output, written } = record(true, { NO_COLOR: '1' });
  output.facts({ id: 'dlv_1', accepted: new Date(NOW - 5_000), settled: undefined });
  expect(written.stdout).toBe('id        dlv_1\naccepted  2030-01-31T11:59:55.000Z (5 s ago)\n');
});

test('a problem goes to stderr and sets the exit code; a note doesn’t', () => {
  const { output, written } = record(false);
  output.note('by the way');
  expect(written).toEqual({ stdout: '', stderr: 'by the way\n', exitCode: 0 });
  output.problem('it broke');
  expect(written).toEqual({ stdout: '', stderr: 'by the way\nit broke\n', exitCode: 1 });
});

test.each([
  [1_000_000, 'now'],
  [999_100, 'now'],
  [940_000, '1 min ago'],
  [1_000_000 + 7_200_000, 'in 2 h'],
])('at 1,000,000 the time %i is %s', (at, text) => {
  expect(relativeText(at, 1_000_000)).toBe(text);
});
