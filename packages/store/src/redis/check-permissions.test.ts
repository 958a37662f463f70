import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listNeededCommands } from './check-permissions.ts';

const REPOSITORY = fileURLToPath(new URL('../../../../', import.meta.url));
const SOURCES = globSync(['packages/{runtime,queue,store}/src/**/*.ts', 'apps/{api,worker}/src/**/*.ts'], {
  cwd: REPOSITORY,
})
  .filter((file) => !file.endsWith('.test.ts'))
  .map((file) => readFileSync(join(REPOSITORY, file), 'utf8'));

const needed = listNeededCommands(true, ['k']).map((command) => command.split(' ')[0] ?? '');
/** Commands of our scripts. */
const called = new Set(
  SOURCES.flatMap((text) => [...text.matchAll(/\bredis\.p?call\(\s*["']([A-Za-z]+)/g)]).map(([, name = '']) =>
    name.toUpperCase(),
  ),
);
/** The start-up check runs these instead of asking for them. */
const TRIED = new Set(['EVAL', 'EVALSHA']);

test('every command of our scripts is asked for at start-up', () => {
  expect(called.size).toBeGreaterThan(30);
  expect([...called].filter((name) => !needed.includes(name) && !TRIED.has(name))).toEqual([]);
});

test('nothing is asked for at start-up that is never sent', () => {
  const isSent = (name: string) => SOURCES.some((text) => text.includes(`.${name.toLowerCase()}(`));
  expect(needed.filter((name) => !called.has(name) && !isSent(name))).toEqual([]);
});
