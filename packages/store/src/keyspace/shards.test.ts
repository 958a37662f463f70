import { createRequire } from 'node:module';
import { SHARD_TAGS, shardOf } from './shards.ts';

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
