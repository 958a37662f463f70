import { freePort } from './free-port.ts';
import { launchProcess, startProcess } from './start-process.ts';
import { waitFor } from './wait-for.ts';

const node = process.execPath;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a process is ready with the line that says so, and stops on SIGTERM', async () => {
  const script = `process.on('SIGTERM', () => process.exit(3)); setInterval(() => {}, 1000);
    console.error('warming up'); console.log('ready')`;
  await using running = await startProcess({
    name: 'stub',
    command: node,
    args: ['-e', script],
    readyWhen: (line) => line === 'ready',
  });
  await expect(running.stop()).resolves.toEqual({ code: 3, signal: null });
  expect(running.stdout).toEqual(['ready']);
  expect(running.stderr).toEqual(['warming up']);
});

test('a process is ready when its URL answers 2xx', async () => {
  const port = await freePort();
  const script = `let tries = 0;
    require('http').createServer((q, s) => s.writeHead(++tries < 3 ? 503 : 200).end()).listen(${port}, '127.0.0.1')`;
  await using running = await startProcess({
    name: 'stub',
    command: node,
    args: ['-e', script],
    readyWhen: `http://127.0.0.1:${port}/readyz`,
  });
  expect(running.hasExited()).toBe(false);
});

test('one that ends before it is ready fails with its exit code and its last output', async () => {
  const starting = startProcess({
    name: 'stub',
    command: node,
    args: ['-e', 'console.error("SECRETS_KEY is missing"); process.exitCode = 78'],
    readyWhen: () => false,
  });
  await expect(starting).rejects.toThrow(
    'stub ended before it was ready, exit code 78\n  stub | SECRETS_KEY is missing',
  );
});

test('one that is not ready in time is killed, and its last output is in the error', async () => {
  let pid = 0;
  const starting = startProcess({
    name: 'stub',
    command: '/bin/sh',
    args: ['-c', 'echo $$; exec sleep 600'],
    onLine: ({ text }) => (pid = Number(text)),
    readyWhen: () => false,
    readyDeadlineMs: 2_000,
  });
  await expect(starting).rejects.toThrow(/waited \d+ ms for stub to be ready[^]*stub \| \d+/);
  expect(isAlive(pid)).toBe(false);
});

test('a command that does not exist fails with its name', async () => {
  await expect(startProcess({ name: 'stub', command: '/no/such/command' })).rejects.toThrow(
    'stub could not be started: spawn /no/such/command ENOENT',
  );
});

test('one that ignores SIGTERM is killed, and that is an error', async () => {
  const running = await startProcess({
    name: 'stub',
    command: node,
    args: ['-e', "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('ready')"],
    readyWhen: (line) => line === 'ready',
  });
  await expect(running.stop(50)).rejects.toThrow(/^stub did not stop within \d+ ms of SIGTERM and was killed/);
  await expect(running.exited).resolves.toEqual({ code: null, signal: 'SIGKILL' });
});

test('the environment is the given one, PATH, and where compiled code is kept', async () => {
  await using running = await launchProcess({
    name: 'stub',
    command: node,
    args: ['-p', 'Object.keys(process.env).filter((name) => !name.startsWith("__CF")).sort().join()'],
    env: { ONLY: 'this' },
  });
  await running.exited;
  const kept = process.env.NODE_COMPILE_CACHE === undefined ? [] : ['NODE_COMPILE_CACHE'];
  expect(running.stdout).toEqual([[...kept, 'ONLY', 'PATH'].join(',')]);
});

test('what a process started ends with it', async () => {
  const script = `const child = require('child_process').spawn('sleep', ['600'], { stdio: 'inherit' }); console.log(child.pid);
    setInterval(() => {}, 1000)`;
  await using running = await startProcess({
    name: 'stub',
    command: node,
    args: ['-e', script],
    readyWhen: (line) => /^\d+$/.test(line),
  });
  running.kill('SIGKILL');
  await running.exited;
  const grandchild = Number(running.stdout[0]);
  await expect(waitFor('the grandchild to be gone', () => !isAlive(grandchild))).resolves.toBe(true);
});

test('a process ends when the one that started it is killed', async () => {
  const script = `import { launchProcess } from ${JSON.stringify(import.meta.resolve('./start-process.ts'))};
    const { pid } = await launchProcess({ name: 'orphan', command: 'sleep', args: ['600'] });
    console.log(pid); setInterval(() => {}, 1000)`;
  await using parent = await startProcess({
    name: 'parent',
    command: node,
    args: ['--input-type=module', '-e', script],
    readyWhen: (line) => /^\d+$/.test(line),
  });
  const orphan = Number(parent.stdout[0]);
  expect(isAlive(orphan)).toBe(true);
  parent.kill('SIGKILL');
  await expect(waitFor('the orphan to be gone', () => !isAlive(orphan))).resolves.toBe(true);
});
