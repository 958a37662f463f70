import { type Build, THIS_BUILD } from './start-herald.ts';
import {
  besideTable,
  createTurns,
  judgeAccept,
  judgeIsolation,
  judgeNeighbours,
  judgeOnce,
  judgeRounds,
  judgeWorst,
  TARGETS,
} from './targets.ts';

test('a ratio is the median of the rounds, each to its own floor', () => {
  const rounds = [
    { measured: 600, floor: 1_000 },
    { measured: 700, floor: 1_000 },
    { measured: 90, floor: 100 },
  ];
  expect(judgeRounds('drain', 'drain', rounds)).toEqual({
    row: 'drain',
    measured: 600,
    floor: 1_000,
    target: TARGETS.drain.words,
    ratio: 0.7,
    isMet: true,
  });
});

type Case = { target: keyof typeof TARGETS; measured: number; floor?: number; isMet: boolean };

test.each<Case>([
  { target: 'drain', measured: 65, floor: 100, isMet: true },
  { target: 'drain', measured: 64, floor: 100, isMet: false },
  { target: 'acceptSingle', measured: 50, floor: 100, isMet: true },
  { target: 'acceptSingle', measured: 49, floor: 100, isMet: false },
  { target: 'acceptBatched', measured: 500, floor: 100, isMet: true },
  { target: 'acceptBatched', measured: 499, floor: 100, isMet: false },
  { target: 'through', measured: 3_000, isMet: true },
  { target: 'through', measured: 2_999, isMet: false },
  { target: 'latencyP50', measured: 3, isMet: true },
  { target: 'latencyP50', measured: 3.1, isMet: false },
  { target: 'latencyP99', measured: 20, isMet: true },
  { target: 'latencyP99', measured: 20.1, isMet: false },
  { target: 'latencySpreadP99', measured: 12, isMet: true },
  { target: 'latencySpreadP99', measured: 12.1, isMet: false },
  { target: 'pendingBytes', measured: 520, isMet: true },
  { target: 'pendingBytes', measured: 521, isMet: false },
  { target: 'settledBytes', measured: 400, isMet: true },
  { target: 'settledBytes', measured: 401, isMet: false },
  { target: 'workerGrowth', measured: 109, floor: 100, isMet: true },
  { target: 'workerGrowth', measured: 110, floor: 100, isMet: false },
  { target: 'isolationP99', measured: 50, floor: 20, isMet: true },
  { target: 'isolationP99', measured: 51, floor: 20, isMet: false },
  { target: 'isolationP99', measured: 31, floor: 10, isMet: false },
  { target: 'neighbourP99', measured: 25, floor: 20, isMet: true },
  { target: 'neighbourP99', measured: 26, floor: 20, isMet: false },
  { target: 'neighbourP99', measured: 16, floor: 10, isMet: false },
  { target: 'neighbourShare', measured: 0.9, isMet: true },
  { target: 'neighbourShare', measured: 0.89, isMet: false },
  { target: 'isolationLeftOver', measured: 0, floor: 0, isMet: true },
  { target: 'isolationLeftOver', measured: 1, floor: 0, isMet: false },
  { target: 'isolationCpu', measured: 15, floor: 10, isMet: true },
  { target: 'isolationCpu', measured: 16, floor: 10, isMet: false },
  { target: 'always', measured: 1_000, floor: 1_200, isMet: true },
  { target: 'always', measured: 999, floor: 1_200, isMet: false },
  { target: 'singleCpu1', measured: 80, floor: 100, isMet: true },
  { target: 'singleCpu1', measured: 81, floor: 100, isMet: false },
  { target: 'singleRate10', measured: 115, floor: 100, isMet: true },
  { target: 'singleRate10', measured: 114, floor: 100, isMet: false },
  { target: 'drainBeside', measured: 115, floor: 100, isMet: true },
  { target: 'drainBeside', measured: 114, floor: 100, isMet: false },
  { target: 'acceptCpuBeside', measured: 100, floor: 100, isMet: true },
  { target: 'acceptCpuBeside', measured: 101, floor: 100, isMet: false },
])('$target with $measured (floor $floor): met $isMet', ({ target, measured, floor, isMet }) => {
  expect(judgeOnce(target, 'row', measured, floor).isMet).toBe(isMet);
});

test.each(Object.keys(TARGETS) as (keyof typeof TARGETS)[])('%s is not met by what could not be measured', (target) => {
  expect(judgeOnce(target, 'row', NaN).isMet).toBe(false);
  expect(judgeRounds(target, 'row', []).isMet).toBe(false);
});

test('accepting is judged against the bare route, and its batches against single', () => {
  const [single, batch] = judgeAccept(10, [{ bare: 4_000, single: 1_000, batch: 5_000 }]);
  expect(single).toMatchObject({ measured: 1_000, floor: 4_000, ratio: 0.25, isMet: false });
  expect(batch).toMatchObject({ measured: 5_000, floor: 1_000, ratio: 5, isMet: true });
});

test('of the isolation runs the worst counts, each time, and the healthy one is the floor', () => {
  const run = (name: string, p99Ms: number, workerCpu: number) => ({
    name,
    figures: { p99Ms, reportP99Ms: 1, undelivered: 0, workerCpu, redisCpu: 1 },
  });
  const rows = judgeIsolation([run('healthy', 20, 10), run('dead', 60, 11), run('burst', 30, 16)]);
  expect(rows.map(({ measured, floor, isMet }) => ({ measured, floor, isMet }))).toEqual([
    { measured: 60, floor: 20, isMet: false },
    { measured: 0, floor: 0, isMet: true },
    { measured: 16, floor: 10, isMet: false },
    { measured: 1, floor: 1, isMet: true },
  ]);
  expect(rows[0]?.row).toContain('dead');
  expect(rows[2]?.row).toContain('burst');
});

test('of the runs beside neighbours the worst counts, and the least share of the slow ones', () => {
  const run = (name: string, p99Ms: number, slowShare?: number) => ({
    name,
    figures: {
      p99Ms,
      reportP99Ms: p99Ms / 2,
      undelivered: 0,
      workerCpu: 1,
      redisCpu: 1,
      ...(slowShare && { slowShare }),
    },
  });
  const rows = judgeNeighbours([run('alone', 10), run('lazy', 14, 0.95), run('lazier', 16, 0.89), run('lists', 12)]);
  expect(rows.map(({ measured, floor, isMet }) => ({ measured, floor, isMet }))).toEqual([
    { measured: 16, floor: 10, isMet: false },
    { measured: 8, floor: 5, isMet: false },
    { measured: 0, floor: 0, isMet: true },
    { measured: 0.89, floor: NaN, isMet: false },
  ]);
  expect(rows.at(-1)?.row).toContain('lazier');
  expect(judgeNeighbours([run('alone', 10), run('lists', 12)])).toHaveLength(3);
});

test('a run that could not be measured is the worst', () => {
  const [row] = judgeWorst('isolationCpu', 'p99', [
    { name: 'a', value: 5 },
    { name: 'b', value: NaN },
    { name: 'c', value: 7 },
  ]);
  expect(row).toMatchObject({ measured: NaN, isMet: false });
});

test('no runs, no row', () => {
  expect(judgeWorst('isolationCpu', 'p99', [])).toEqual([]);
});

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
    ...turns.compare('cpu', (cpu) => cpu, 'singleCpu1'),
    ...turns.compare('p99', (ms) => ms),
  ]);
  expect(rows).toEqual([
    ['cpu', 600, 1_000, 0.7, 0.6, 0.9, 'at most 0.80', 'yes'],
    ['p99', 600, 1_000, 0.7, 0.6, 0.9, '', ''],
  ]);
});

test('a build alone is not named, and compared with nothing', async () => {
  const turns = createTurns<number>([THIS_BUILD]);
  await turns.take(() => Promise.resolve(1));
  expect(turns.all.map(({ title }) => title('drain'))).toEqual(['drain']);
  expect(turns.compare('drain', (rate) => rate)).toEqual([]);
});
