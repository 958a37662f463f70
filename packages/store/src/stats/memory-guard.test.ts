import { Cluster } from 'ioredis';
import { createKeyspace, type ShardKeys } from '../keys/keys.ts';
import { slotOf } from '../redis/find-master.ts';
import { chooseRefused, startMemoryGuard } from './memory-guard.ts';

const HOLDERS = [60, 20, 10, 10].map((bytes, index) => ({ workspaceId: `ws_${index}`, pending: 0, bytes }));

test.each([
  { share: 0.849, refused: 0 },
  { share: 0.85, refused: 1 },
  { share: 0.9, refused: 1 },
  { share: 0.92, refused: 2 },
  { share: 0.935, refused: 3 },
  { share: 0.95, refused: 4 },
])('of a Redis that is full to $share, the $refused that hold the most are refused', ({ share, refused }) => {
  expect([...chooseRefused(share, HOLDERS)]).toEqual(HOLDERS.slice(0, refused).map(({ workspaceId }) => workspaceId));
});

test('where nobody holds anything, nobody is refused', () => {
  expect(chooseRefused(0.94, []).size).toBe(0);
});

const keyspace = createKeyspace(6);
/** In each shard two workspaces: those of a later shard hold more. */
const WORKSPACES = keyspace.shards.map((keys, shard) => {
  const names = Array.from({ length: 1_000 }, (_, index) => `ws_${index}`).filter((id) => keyspace.of(id) === keys);
  const [large = '', small = ''] = names;
  return { large: { id: large, bytes: 100 * (shard + 1) }, small: { id: small, bytes: 10 } };
});

const accounts = {
  largest: (_limit: number, _by?: 'held' | 'pending', shards: readonly ShardKeys[] = keyspace.shards) =>
    Promise.resolve(
      WORKSPACES.flatMap(({ large, small }) => [large, small])
        .map(({ id, bytes }) => ({ workspaceId: id, pending: 0, bytes }))
        .filter(({ workspaceId }) => shards.includes(keyspace.of(workspaceId)))
        .sort((a, b) => b.bytes - a.bytes),
    ),
};

/** A guard of three masters, the shares of which a test sets. Shard n lies on master n % 3 until it is moved. */
function startGuard() {
  const shares: (number | 'away')[] = [0, 0, 0];
  const masters = shares.map((_, port) => ({
    options: { host: 'redis', port },
    info() {
      const share = shares[port] ?? 0;
      if (share === 'away') return Promise.reject(new Error('connection lost'));
      return Promise.resolve(`used_memory:${share * 1_000}\r\nmaxmemory:1000\r\n`);
    },
  }));
  const slots: string[][] = [];
  const redis = Object.assign(Object.create(Cluster.prototype) as Cluster, { slots, nodes: () => masters });
  const move = (shard: number, master: number) => {
    slots[slotOf(keyspace.shards[shard]?.prefix ?? '')] = [`redis:${master}`, 'redis:9'];
  };
  for (const shard of keyspace.shards.keys()) move(shard, shard % masters.length);
  const { findRefusal, stop } = startMemoryGuard({ redis, keyspace, accounts });
  const look = async () => {
    jest.advanceTimersByTime(1_500);
    await new Promise(setImmediate);
  };
  /** By shard, what the large and the small workspace are told. */
  const readRefusals = () =>
    WORKSPACES.map(({ large, small }) => [large, small].map(({ id }) => findRefusal(id)?.code ?? '').join(' '));
  return { shares, move, look, readRefusals, stop };
}

describe('of three masters', () => {
  let guard: ReturnType<typeof startGuard>;
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'queueMicrotask', 'setImmediate', 'setTimeout'] });
    guard = startGuard();
  });
  afterEach(() => {
    guard.stop();
    jest.useRealTimers();
  });
  const FREE = ' ';

  test('a crowded one refuses the largest workspaces of its own shards, although others hold more', async () => {
    guard.shares.splice(0, 3, 0.86, 0.5, 0.8);
    await guard.look();
    expect(guard.readRefusals()).toEqual([FREE, FREE, FREE, 'workspace_full ', FREE, FREE]);
  });

  test('a nearly full one refuses all of its own, and nobody else', async () => {
    guard.shares.splice(0, 3, 0.5, 0.97, 0.86);
    await guard.look();
    const all = 'unavailable unavailable';
    expect(guard.readRefusals()).toEqual([FREE, all, FREE, FREE, all, 'workspace_full ']);
  });

  test('a shard that moves is judged by its new master', async () => {
    guard.shares.splice(0, 3, 0.97, 0.5, 0.5);
    await guard.look();
    guard.move(3, 1);
    guard.move(2, 0);
    await guard.look();
    const all = 'unavailable unavailable';
    expect(guard.readRefusals()).toEqual([all, FREE, all, FREE, FREE, FREE]);
  });

  test('while one is away, what is known of it holds, and the others are looked at', async () => {
    guard.shares.splice(0, 3, 0.97, 0.5, 0.97);
    await guard.look();
    guard.shares.splice(0, 3, 'away', 0.97, 0.5);
    await guard.look();
    const all = 'unavailable unavailable';
    expect(guard.readRefusals()).toEqual([all, all, FREE, all, all, FREE]);
  });
});
