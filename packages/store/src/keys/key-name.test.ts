import { KEY_KINDS, readKeyName } from './key-name.ts';
import { createKeyspace } from './keys.ts';

const [, , keys] = createKeyspace(3).shards;
if (!keys) throw new Error('there are three');
const { queue, ...others } = keys;
const NAMES = { ...others, ...queue } as const;
const nameOf = (kind: keyof typeof KEY_KINDS) => {
  if (kind === 'transition') return keys.transition('trn_1');
  if (kind === 'delivery' || kind === 'attempts') return keys[kind]('dlv_1');
  if (kind === 'logSegments' || kind === 'logSegment') return keys[kind](keys.callbackLog('a:b'), '12-1');
  if (kind === 'endedLog') return keys.endedLog(keys.endpointLog('wh_x'), 'failed');
  if (kind === 'endedPart') return keys.endedPart(keys.endedLog(keys.callbackLog('a:b'), 'canceled'), '12-1');
  const key = NAMES[kind];
  // A ring's number, or any other id.
  return typeof key === 'string' ? key : (key as (id: string) => string)('1');
};

test.each(Object.keys(KEY_KINDS) as (keyof typeof KEY_KINDS)[])('a key of the kind %s is known by its name', (kind) => {
  expect(readKeyName(nameOf(kind))).toMatchObject({ shard: 2, kind });
});

test.each([
  ['{h2qc}:q:!tests', { shard: 2, kind: 'waiting', id: '!tests' }],
  ['{h2qc}:q:', { shard: 2, kind: 'waiting', id: '' }],
  ['{h2qc}:queue', { shard: 2, kind: 'settings', id: '' }],
  ['{h2qc}:deliveries:dlv_abc', undefined],
  ['{h0dr}:w:a:b:receivers', { shard: 0, kind: 'receivers', id: 'a:b' }],
  ['{h2qc}:e:wh_x:log:12-1', { shard: 2, kind: 'logSegment', id: 'e:wh_x:log' }],
  [
    '{h2qc}:w:a:callbacks:12-1:callbacks:segments',
    { shard: 2, kind: 'logSegments', id: 'w:a:callbacks:12-1:callbacks' },
  ],
  ['{h2qc}:e:wh_x:log:failed', { shard: 2, kind: 'endedLog', id: 'e:wh_x:log:failed' }],
  ['{h2qc}:w:a:callbacks:canceled:segments', { shard: 2, kind: 'endedPart', id: 'w:a:callbacks:canceled' }],
  ['{h2qc}:dlv_abc:a', { shard: 2, kind: 'attempts', id: 'dlv_abc' }],
  ['{h2qc}:d:dlv_abc', undefined],
  ['{h2qc}:mark', undefined],
  ['{other}:e:wh_x', undefined],
  ['herald:shards', undefined],
])('%s', (name, known) => {
  expect(readKeyName(name)).toEqual(known);
});
