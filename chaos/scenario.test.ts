import { chooseScenario, describeScenario } from './scenario.ts';

const SEEDS = Array.from({ length: 300 }, (_, seed) => seed);

test('a seed always chooses the same, and over some seeds every topology with one shard and more, of clusters also with shards that move', () => {
  const name = (seed: number) => describeScenario(chooseScenario(seed));
  expect(SEEDS.map(name)).toEqual(SEEDS.map(name));
  const clusters = [
    'cluster, 3 shards',
    'cluster, 3 shards that move',
    'cluster, 6 shards',
    'cluster, 6 shards that move',
  ];
  const names = [
    ...clusters,
    ...['sentinel, 1', 'sentinel, 3', 'single, 1', 'single, 3'].map((name) => `${name} shards`),
  ];
  expect([...new Set(SEEDS.map(name))].sort()).toEqual(names.flatMap((each) => [each, `${each}, history`]).sort());
});

test('a cluster that was asked for has several shards, whatever the seed', () => {
  for (const seed of SEEDS) {
    const { topology, shards } = chooseScenario(seed, { topology: 'cluster' });
    expect(topology).toBe('cluster');
    expect(shards).toBeGreaterThan(1);
  }
});

test('about a third of the seeds have a history, unless it was asked for or refused, which changes nothing else', () => {
  const seeds = Array.from({ length: 300 }, (_, seed) => seed);
  const withHistory = seeds.filter((seed) => chooseScenario(seed).history);
  expect(withHistory.length).toBeGreaterThan(80);
  expect(withHistory.length).toBeLessThan(120);
  for (const history of [true, false]) {
    for (const seed of SEEDS) expect(chooseScenario(seed, { history })).toEqual({ ...chooseScenario(seed), history });
  }
});
