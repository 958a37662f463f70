import { PassThrough } from 'node:stream';
import { createReadInput, systemUser } from './command-deps.ts';

test('a user of the system without a name is told by its number', () => {
  expect(systemUser(() => ({ username: 'ann' }))).toBe('ann');
  const nameless = () => {
    throw new Error('A system error occurred: uv_os_get_passwd returned ENOENT');
  };
  expect(systemUser(nameless)).toBe(`uid ${process.getuid?.()}`);
});

function start(isTTY: boolean) {
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const shown: string[] = [];
  const stderr = Object.assign(new PassThrough(), {
    write: (text: string | Uint8Array) => shown.push(String(text)) > 0,
  });
  return { stdin, shown, readInput: createReadInput(() => stdin, stderr) };
}

test('a pipe is read to its end, without the blanks around it and without a question', async () => {
  const { stdin, shown, readInput } = start(false);
  const text = readInput('The key: ');
  stdin.write('  one\n');
  stdin.end('two\n\n');
  expect([await text, shown]).toEqual(['one\ntwo', []]);
});

test('a pipe that never ends is read no further than any key goes', async () => {
  const { stdin, readInput } = start(false);
  const text = readInput('');
  stdin.write('x'.repeat(10_000));
  expect((await text).length).toBeGreaterThan(1_000);
});

test.each([
  ['a line', 'secret\r', 'secret'],
  ['Ctrl-C', 'sec\u0003', ''],
  ['Ctrl-D', '\u0004', ''],
])('a terminal is asked, shows nothing of what is typed, and %s ends it', async (_what, typed, read) => {
  const { stdin, shown, readInput } = start(true);
  const text = readInput('The key: ');
  stdin.write(typed);
  expect([await text, shown]).toEqual([read, ['The key: ', '\n']]);
});
