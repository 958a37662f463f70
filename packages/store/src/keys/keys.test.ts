import type { KnownFact } from '@herald/core';
import { createRequire } from 'node:module';
import { readFactValue, SHARD_TAGS, shardOf, writeFactValue } from './keys.ts';

// The slot function of the Redis client itself, which nobody here wrote.
const slotOf = createRequire(import.meta.url)('cluster-key-slot') as (key: string) => number;

test.each([2, 3, 4, 6, 8, 16, 64])('the first %i shards share a cluster’s slots evenly', (count) => {
  const slots = SHARD_TAGS.slice(0, count)
    .map((tag) => slotOf(`{${tag}}`))
    .sort((a, b) => a - b);
  const gaps = slots.map(
    (slot, index) => (slots[(index + 1) % count] ?? 0) - slot + (index + 1 === count ? 16_384 : 0),
  );
  expect(Math.max(...gaps)).toBeLessThanOrEqual(2.2 * (16_384 / count));
});

test('a workspace’s shard is the same for ever', () => {
  expect(['ws_a', 'ws_b', 'ws_local'].map((id) => shardOf(id, 64))).toEqual([51, 6, 59]);
});

test('a notice lies in the shard of the workspace that it is about', () => {
  expect(['ws_a', 'ws_b'].map((id) => shardOf(`${id}:platform`, 64))).toEqual([51, 6]);
});

test('workspaces spread over the shards', () => {
  const counts = new Array<number>(8).fill(0);
  for (let index = 0; index < 8_000; index++) {
    const shard = shardOf(`ws_${index}`, 8);
    counts[shard] = (counts[shard] ?? 0) + 1;
  }
  expect(Math.min(...counts)).toBeGreaterThan(800);
});

test.each<{ fact: KnownFact; value: string }>([
  { fact: { sequence: 0 }, value: '0' },
  { fact: { sequence: 12 }, value: '12' },
  { fact: { sequence: 0, digest: '0000001' }, value: '0.0000001' },
  { fact: { sequence: 12, digest: '7654321' }, value: '12.7654321' },
])('$fact is kept as $value, and read back', ({ fact, value }) => {
  expect(writeFactValue(fact)).toBe(value);
  expect(readFactValue(value)).toStrictEqual(fact);
});

test('a former version, which reads a number, finds the facts in their order', () => {
  const values = [2, 10, 1].map((sequence) => writeFactValue({ sequence, digest: '9999999' }));
  expect(values.map(Number).sort((a, b) => a - b)).toEqual([1.9999999, 2.9999999, 10.9999999]);
});
