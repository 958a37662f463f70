import { availableParallelism } from 'node:os';
import { findPace, isLeftOut } from '../../tests/runner/pace.ts';

const HOUR_MS = 3_600_000;

test('on a machine that hardly stands still, more files run at a time than there are processors, and nothing is left out', () => {
  const env: NodeJS.ProcessEnv = { CI: 'true' };
  expect(findPace(env, () => 0.1)).toEqual({ isSlow: false, files: availableParallelism() + 4 });
  expect(env).toEqual({ CI: 'true', HERALD_TEST_PATIENCE: '1' });
});

test('where it stands still for most of the time, few do, tests wait for longer, and CI leaves out what it has no time for', () => {
  const env: NodeJS.ProcessEnv = { CI: 'true' };
  expect(findPace(env, () => 0.6)).toEqual({ isSlow: true, files: availableParallelism() });
  expect(env).toMatchObject({ HERALD_TEST_PATIENCE: '4' });
  const left = Number(env.HERALD_TEST_UNTIL) - Date.now();
  expect([left > 0, left < HOUR_MS]).toEqual([true, true]);
});

test('elsewhere than in CI nothing is left out', () => {
  const env: NodeJS.ProcessEnv = {};
  findPace(env, () => 0.6);
  expect(Object.keys(env)).toEqual(['HERALD_TEST_PATIENCE']);
});

test('what one process of a run has found holds for the others', () => {
  const env: NodeJS.ProcessEnv = { HERALD_TEST_PATIENCE: '4' };
  expect(findPace(env, () => 0.1).isSlow).toBe(true);
});

test('only end-to-end tests are left out, and only when the time is up', () => {
  const [before, after] = [Date.now() + HOUR_MS, Date.now() - 1].map((at) => ({ HERALD_TEST_UNTIL: String(at) }));
  expect([isLeftOut('e2e', before), isLeftOut('e2e', after), isLeftOut('e2e', {})]).toEqual([false, true, false]);
  expect(['unit', 'integration', 'soak', undefined].map((project) => isLeftOut(project, after))).toEqual([
    ...[false, false, false, false],
  ]);
});
