import { ConfigError, readEnv } from '@herald/runtime/env';
import { SharedEnv } from './shared-env.ts';
import { toRedisTarget, withOneRedis } from './redis-env.ts';

const read = (env: Record<string, string>) => toRedisTarget(readEnv(withOneRedis(SharedEnv), env));
const problemOf = (env: Record<string, string>) => {
  try {
    read(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
  }
  return 'no problem';
};
const A = { host: '10.0.0.1', port: 7000 };
const B = { host: 'redis-2.internal', port: 7001 };
const plain = { usesTls: false };

test.each([
  ['nothing', {}, { kind: 'single', url: 'redis://127.0.0.1:6379' }],
  ['one url', { REDIS_URL: 'rediss://u:p@h:1/3' }, { kind: 'single', url: 'rediss://u:p@h:1/3' }],
  [
    'the nodes of a cluster',
    { REDIS_CLUSTER_NODES: '10.0.0.1:7000, redis-2.internal:7001' },
    { kind: 'cluster', nodes: [A, B], access: plain },
  ],
  [
    'nodes with TLS and credentials, percent-encoded',
    { REDIS_CLUSTER_NODES: 'rediss://herald:p%2Cw%40d@10.0.0.1:7000,redis-2.internal:7001' },
    { kind: 'cluster', nodes: [A, B], access: { username: 'herald', password: 'p,w@d', usesTls: true } },
  ],
  [
    'an IPv6 address',
    { REDIS_CLUSTER_NODES: 'redis://:pw@[fd00::1]:7000' },
    { kind: 'cluster', nodes: [{ host: 'fd00::1', port: 7000 }], access: { password: 'pw', usesTls: false } },
  ],
  [
    'Sentinels, a database and their own password',
    {
      REDIS_SENTINELS: 'redis://:pw@10.0.0.1:7000,redis-2.internal:7001/2',
      REDIS_SENTINEL_MASTER: 'main',
      REDIS_SENTINEL_PASSWORD: 'watch',
    },
    {
      kind: 'sentinel',
      sentinels: [A, B],
      masterName: 'main',
      database: 2,
      sentinelPassword: 'watch',
      access: { password: 'pw', usesTls: false },
    },
  ],
])('%s says where Redis is', (_what, env, target) => {
  expect(read(env)).toEqual(target);
});

test.each([
  ['a cluster beside a url', { REDIS_URL: 'redis://h:1', REDIS_CLUSTER_NODES: 'h:1' }, 'one of the three'],
  ['a cluster beside Sentinels', { REDIS_CLUSTER_NODES: 'h:1', REDIS_SENTINELS: 'h:1' }, 'one of the three'],
  ['Sentinels without a master', { REDIS_SENTINELS: 'h:1' }, 'REDIS_SENTINEL_MASTER must be set'],
  ['a master without Sentinels', { REDIS_SENTINEL_MASTER: 'main' }, 'REDIS_SENTINELS must be set'],
  ['a path that is no database', { REDIS_URL: 'redis://h:1/main' }, 'with the number of a database'],
  ['a database below zero', { REDIS_URL: 'redis://h:1/-1' }, 'with the number of a database'],
  ['a parameter that is no database', { REDIS_URL: 'redis://h:1?db=main' }, 'with the number of a database'],
  ['a cluster with a database', { REDIS_CLUSTER_NODES: 'h:1/2' }, 'must not name a database'],
  ['a node without a port', { REDIS_CLUSTER_NODES: 'h:1,other' }, 'REDIS_CLUSTER_NODES must be addresses'],
  ['a port that is none', { REDIS_CLUSTER_NODES: 'h:70000' }, 'REDIS_CLUSTER_NODES must be addresses'],
  ['an empty item', { REDIS_CLUSTER_NODES: 'h:1,' }, 'REDIS_CLUSTER_NODES must be addresses'],
  ['another scheme', { REDIS_SENTINELS: 'http://h:1' }, 'REDIS_SENTINELS must be addresses'],
  ['replicas beyond five', { REDIS_MIN_REPLICAS: '6' }, 'REDIS_MIN_REPLICAS must be a whole number from 0 to 5'],
])('%s is refused with a sentence', (_what, env, problem) => {
  expect(problemOf(env)).toContain(problem);
});

test('a refused list is not told: it may hold a password', () => {
  expect(problemOf({ REDIS_CLUSTER_NODES: 'redis://:hunter2@h' })).not.toContain('hunter2');
});
