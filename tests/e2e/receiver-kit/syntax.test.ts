import { findExecutable, startProcess } from '@herald/test-kit';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readExample } from './read-example.ts';

const CHECKS = [
  { example: 'receiver.go', command: 'gofmt', args: ['-e'] },
  { example: 'config.ru', command: 'ruby', args: ['-c'] },
  { example: 'receiver.php', command: 'php', args: ['-l'] },
];
async function check(example: string, code: string, { command, args }: { command: string; args: readonly string[] }) {
  const folder = await mkdtemp(join(tmpdir(), 'herald-syntax-'));
  try {
    await writeFile(join(folder, example), code);
    await using ran = await startProcess({ name: command, command, args: [...args, join(folder, example)] });
    return (await ran.exited).code === 0;
  } finally {
    await rm(folder, { recursive: true });
  }
}

for (const each of CHECKS) {
  const { command, example } = each;
  if (findExecutable(command) === undefined) {
    test.todo(`${command} reads the receiver ${example}, which is not done: it is not on the PATH`);
    continue;
  }
  test(`${command} reads the receiver ${example}`, async () => {
    const code = await readExample(example);
    expect(await check(example, code, each)).toBe(true);
    expect(await check(example, `${code}\n} ) end end`, each)).toBe(false); // it does look
  });
}
