import { Redis } from 'ioredis';
import { leanPipelines } from './lean-pipelines.ts';

const LUA = 'return 1';

/** A client that never dials. */
function createClient(): Redis {
  return leanPipelines(new Redis({ lazyConnect: true, enableAutoPipelining: true }));
}

test('a pipeline has the scripts that were defined before and after the first one was begun, as properties of none', () => {
  const client = createClient();
  client.defineCommand('before', { lua: LUA, numberOfKeys: 0 });
  const first = client.pipeline();
  client.defineCommand('after', { lua: LUA, numberOfKeys: 0 });
  for (const pipeline of [first, client.pipeline()]) {
    for (const name of ['before', 'beforeBuffer', 'after', 'afterBuffer']) {
      expect(typeof Reflect.get(pipeline, name)).toBe('function');
      expect(Object.hasOwn(pipeline, name)).toBe(false);
    }
  }
});

test('a pipeline belongs to its client, and clients share no scripts', () => {
  const [one, other] = [createClient(), createClient()];
  one.defineCommand('mine', { lua: LUA, numberOfKeys: 0 });
  expect(Reflect.get(one.pipeline(), 'redis')).toBe(one);
  expect(Reflect.get(other.pipeline(), 'mine')).toBeUndefined();
});

test('a pipeline has what the client itself gives one, but for what is shared', () => {
  const stock = new Redis({ lazyConnect: true });
  const [own, shared] = [Object.keys(stock.pipeline()), Object.keys(createClient().pipeline())];
  expect(shared.sort()).toEqual(own.sort());
  const lean = createClient().pipeline().get('a').set('b', 'c');
  expect(lean).toHaveLength(2);
  expect(Object.hasOwn(lean, 'length')).toBe(false);
});
