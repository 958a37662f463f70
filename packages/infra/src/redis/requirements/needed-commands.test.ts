import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listNeededCommands } from './needed-commands.ts';

const INFRA = fileURLToPath(new URL('../../', import.meta.url));
const BULLMQ = fileURLToPath(new URL('./scripts/', import.meta.resolve('bullmq')));
/** Of BullMQ's scripts those that queues and workers of ours run. */
const SCRIPTS = [
  ...['addStandardJob', 'addDelayedJob', 'moveToActive', 'moveToFinished', 'moveToDelayed', 'moveJobFromActiveToWait'],
  ...['moveStalledJobsToWait', 'extendLock', 'extendLocks', 'removeJob', 'promote', 'pause', 'getCounts', 'getRanges'],
  ...['getState', 'getStateV2', 'isJobInList', 'retryJob', 'isMaxed', 'releaseLock', 'getRateLimitTtl'],
];

/** Those that run scripts are tried instead. */
const needed = new Set(['EVAL', 'EVALSHA', ...listNeededCommands({ waits: true }, ['k']).map(({ words }) => words[0])]);
const callsIn = (text: string) =>
  [...text.matchAll(/\b(?:redis\.p?call|rcall)\(\s*["']([A-Za-z]+)/g)].map(([, name = '']) => name.toUpperCase());

test('every command of our scripts is asked for at start-up', () => {
  const files = globSync('**/*.ts', { cwd: INFRA }).filter((file) => !file.endsWith('.test.ts'));
  const called = new Set(files.flatMap((file) => callsIn(readFileSync(join(INFRA, file), 'utf8'))));
  expect(called.size).toBeGreaterThan(30);
  expect([...called].filter((name) => !needed.has(name))).toEqual([]);
});

test('every command of the scripts of BullMQ that we run is asked for at start-up', () => {
  const files = globSync('*.js', { cwd: BULLMQ }).filter((file) => SCRIPTS.includes(file.replace(/-\d+\.js$/, '')));
  const called = new Set(files.flatMap((file) => callsIn(readFileSync(join(BULLMQ, file), 'utf8'))));
  expect(files.length).toBeGreaterThan(15);
  expect([...called].filter((name) => !needed.has(name))).toEqual([]);
});
