import { THIS_BUILD, type Build } from './builds.ts';
import { besideTable } from './beside-table.ts';
import { createTurns } from './turns.ts';

const beside: Build = { name: 'beside', folder: '/elsewhere' };

test('builds take turns, and neither is always the second', async () => {
  const order: string[] = [];
  const turns = createTurns<string>([THIS_BUILD, beside]);
  const note = (build: Build) => {
    order.push(build.name);
    return Promise.resolve(build.name);
  };
  await turns.take(note);
  await turns.take(note);
  expect(order).toEqual(['this build', 'beside', 'beside', 'this build']);
});

test('a ratio is the median of the rounds, each of this build to the other in the same round', async () => {
  const turns = createTurns<number>([THIS_BUILD, beside]);
  for (const [own, other] of [
    [600, 1_000],
    [700, 1_000],
    [90, 100],
  ] as const) {
    await turns.take((build) => Promise.resolve(build === THIS_BUILD ? own : other));
  }
  const { rows } = besideTable('/elsewhere', [
    ...turns.compare('cpu', (cpu) => cpu, 'throughCpuBeside'),
    ...turns.compare('p99', (ms) => ms),
  ]);
  expect(rows).toEqual([
    ['cpu', 600, 1_000, 0.7, 0.6, 0.9, 'at most 0.65', 'NO'],
    ['p99', 600, 1_000, 0.7, 0.6, 0.9, '', ''],
  ]);
});

test('a build alone is not named, and compared with nothing', async () => {
  const turns = createTurns<number>([THIS_BUILD]);
  await turns.take(() => Promise.resolve(1));
  expect(turns.all.map(({ title }) => title('drain'))).toEqual(['drain']);
  expect(turns.compare('drain', (rate) => rate)).toEqual([]);
});
