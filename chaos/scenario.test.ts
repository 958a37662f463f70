import { chooseScenario } from './scenario.ts';

const SEEDS = Array.from({ length: 50 }, (_, seed) => seed);

test('a seed always chooses the same, and over some seeds every topology with one shard and more', () => {
  const name = (seed: number) => Object.values(chooseScenario(seed)).join(' ');
  expect(SEEDS.map(name)).toEqual(SEEDS.map(name));
  expect([...new Set(SEEDS.map(name))].sort()).toEqual([
    ...['cluster 3', 'cluster 6', 'sentinel 1', 'sentinel 3', 'single 1', 'single 3'],
  ]);
});

test('a cluster that was asked for has several shards, whatever the seed', () => {
  for (const seed of SEEDS) {
    const { topology, shards } = chooseScenario(seed, 'cluster');
    expect(topology).toBe('cluster');
    expect(shards).toBeGreaterThan(1);
  }
});
