import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

const SUBJECT = new URL('./lifecycle.ts', import.meta.url).href;
/** Starts after any line, but fails after 'fail', and fails with an explicable error after 'refuse'. */
const SCRIPT = `
  import { runProcess } from ${JSON.stringify(SUBJECT)};
  await runProcess({
    start: async (signal) => {
      console.log('starting');
      signal.addEventListener('abort', () => console.log('told to stop'));
      const [line] = await new Promise((resolve) => process.stdin.once('data', (data) => resolve([String(data)])));
      process.stdin.unref();
      if (line === 'fail') throw new Error('it has no start');
      if (line === 'refuse') throw Object.assign(new Error('hunter2'), { code: 'REFUSED' });
      console.log('started');
      return { stop: async () => console.log('stopped') };
    },
    explain: (error) => (error.code === 'REFUSED' ? 'It was refused.' : undefined),
    logger: () => ({ info: console.log, error: console.log }),
    stopLimitMs: () => 10_000,
  });
`;

/** It is starting, and has seen a SIGTERM. */
async function startAndSignal() {
  const child = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (chunk: string) => (output += chunk));
  const exited = once(child, 'close') as Promise<[code: number | null, signal: string | null]>;
  const printed = async (text: string) => {
    const ended = exited.then(([code, signal]) => {
      if (!output.includes(text)) throw new Error(`it ended (${code ?? signal ?? ''}) without ${text}:\n${output}`);
    });
    while (!output.includes(text)) await Promise.race([once(child.stdout, 'data'), ended]);
  };
  await printed('starting');
  child.kill('SIGTERM');
  await printed('process.stopping');
  return { child, exited, output: () => output };
}

test('a signal that comes while it starts waits for the start, and ends it in order', async () => {
  const { child, exited, output } = await startAndSignal();
  child.stdin.write('go');
  expect(await exited).toEqual([0, null]);
  expect(output()).toMatch(/told to stop\nprocess\.stopping[^]*started\nstopped\nprocess\.stopped/);
}, 20_000);

test('a start that fails after a signal ends it with 1', async () => {
  const { child, exited, output } = await startAndSignal();
  child.stdin.write('fail');
  expect(await exited).toEqual([1, null]);
  expect(output()).not.toContain('stopped');
}, 20_000);

test('the second signal ends it at once', async () => {
  const { child, exited } = await startAndSignal();
  child.kill('SIGINT');
  expect(await exited).toEqual([1, null]);
}, 20_000);

test('a start that fails for a reason that can be explained ends with one sentence, and nothing of the error', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT], { stdio: ['pipe', 'ignore', 'pipe'] });
  child.stdin.write('refuse');
  const closed = once(child, 'close') as Promise<[code: number | null]>;
  const [stderr, [code]] = await Promise.all([text(child.stderr), closed]);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'It was refused.\n',
  });
}, 20_000);
