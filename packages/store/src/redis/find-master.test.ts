import { createRequire } from 'node:module';
import { SHARD_TAGS } from '../keys/keys.ts';
import { slotOf } from './find-master.ts';

// The slot function of the Redis client itself, which nobody here wrote.
const slotOfClient = createRequire(import.meta.url)('cluster-key-slot') as (key: string) => number;

test('a key has the slot that the client gives it', () => {
  const keys = [...SHARD_TAGS.map((tag) => `{${tag}}:held`), '123456789', 'ä', 'herald:keys'];
  expect(keys.map(slotOf)).toEqual(keys.map(slotOfClient));
});
