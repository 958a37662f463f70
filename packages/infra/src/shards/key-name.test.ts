import { createKeyspace, type ShardKeys } from '../redis/keys.ts';
import { KEY_STEPS, readKeyName } from './key-name.ts';

const keys = createKeyspace(3).shards[2];
const nameOf = (kind: keyof ShardKeys) => {
  const key = keys?.[kind];
  return typeof key === 'function' ? (key as (id: string) => string)('an_id') : (key ?? '');
};

test.each(Object.keys(KEY_STEPS) as (keyof typeof KEY_STEPS)[])('a key of the kind %s is known by its name', (kind) => {
  expect(readKeyName(nameOf(kind))).toMatchObject({ shard: 2, kind });
});

test.each([
  ['{h2qc}:deliveries:dlv_abc', { shard: 2, kind: 'line', id: 'dlv_abc' }],
  ['{h2qc}:tests:meta', { shard: 2, kind: 'line', id: 'meta' }],
  ['{h0dr}:w:a:b:receivers', { shard: 0, kind: 'receivers', id: 'a:b' }],
  ['{h2qc}:mark', undefined],
  ['{other}:e:wh_x', undefined],
  ['herald:shards', undefined],
])('%s', (name, known) => {
  expect(readKeyName(name)).toEqual(known);
});
