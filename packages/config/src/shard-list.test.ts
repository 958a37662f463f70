import { readWorkerConfig } from './worker-config.ts';

const read = (SHARDS: string, WORKER_SHARDS: string) =>
  readWorkerConfig({ SHARDS, WORKER_SHARDS, SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') }).workerShards;

test.each([
  ['', [0, 1, 2, 3]],
  ['all', [0, 1, 2, 3]],
  ['2', [2]],
  ['0,2-3', [0, 2, 3]],
  ['3, 1,1-2', [1, 2, 3]],
])('of four shards WORKER_SHARDS=%s means %j', (text, shards) => {
  expect(read('4', text)).toEqual(shards);
});

test.each(['x', '1,', '-1', '2-1', '0-', 'ALL'])('WORKER_SHARDS=%s is refused with an example', (text) => {
  expect(() => read('4', text)).toThrow('WORKER_SHARDS must be all, or shards separated by commas, such as 0,2-3');
});

test('a shard that there is not is refused', () => {
  expect(() => read('4', '1,4')).toThrow('WORKER_SHARDS must name shards from 0 to 3, since SHARDS is 4');
});
