import { IntegerText, ParsedText, problemOf, readInteger, readItems } from '@herald/runtime/env';
import type { RedisAccess, RedisAddress, RedisTarget } from '@herald/store/redis/redis-target';
import { z } from 'zod';

const DEFAULT_URL = 'redis://127.0.0.1:6379';
const LAST_DATABASE = 1_023;

const LIST = /^(?:(rediss?):\/\/)?(?:([^@/]*)@)?([^@/]+)(?:\/(\d{1,4}))?$/;
const ADDRESS = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/;

const ServerList = (example: string) =>
  ParsedText(
    readServerList,
    `must be addresses separated by commas, such as ${example}; a scheme and credentials stand once, in front: rediss://user:password@${example}`,
  );

/** Whether the Redis client can parse the url: its own errors would show all of it, password included. */
function isReadable(text: string): boolean {
  try {
    const { username, password } = new URL(text);
    return decodeURIComponent(`${username} ${password}`) !== '';
  } catch {
    return false;
  }
}

/** Whether the path is a database: the Redis client takes any other path for database 0. */
function namesDatabase(text: string): boolean {
  const { pathname, searchParams } = URL.parse(text) ?? { pathname: '', searchParams: new URLSearchParams() };
  return /^\/?\d{0,9}$/.test(pathname) && /^\d{1,9}$/.test(searchParams.get('db') ?? '0');
}

/** Variables that say which Redis to use. At most one of the first three is given. */
export const RedisEnv = z.object({
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//, 'must start with redis:// or rediss://')
    .refine(isReadable, 'must be a url; percent-encode what is special in its password')
    .refine(namesDatabase, 'must end behind the address, or with the number of a database, such as /3')
    .optional(),
  REDIS_CLUSTER_NODES: ServerList('10.0.0.1:6379,10.0.0.2:6379').optional(),
  REDIS_SENTINELS: ServerList('10.0.0.1:26379,10.0.0.2:26379').optional(),
  REDIS_SENTINEL_MASTER: z.string().optional(),
  REDIS_SENTINEL_PASSWORD: z.string().optional(),
  /** Replicas that must have a write before it is acknowledged; 0: none. */
  REDIS_MIN_REPLICAS: IntegerText(0, 5).default(0),
});

type Given = z.infer<typeof RedisEnv>;

/** Two addresses of one Redis are a mistake: one of them would be ignored, and nothing would say so. */
export function withOneRedis<Schema extends z.ZodType<Partial<Given>>>(schema: Schema): Schema {
  return schema
    .refine(
      ({ REDIS_URL: url, REDIS_CLUSTER_NODES: nodes, REDIS_SENTINELS: sentinels }) =>
        [url, nodes, sentinels].filter((each) => each !== undefined).length <= 1,
      problemOf(
        'REDIS_URL',
        'can be set, or REDIS_CLUSTER_NODES, or REDIS_SENTINELS: one of the three, since each says where Redis is',
      ),
    )
    .refine(
      ({ REDIS_SENTINELS: sentinels, REDIS_SENTINEL_MASTER: master }) => !sentinels || master !== undefined,
      problemOf(
        'REDIS_SENTINEL_MASTER',
        'must be set, since REDIS_SENTINELS is: the name under which they watch the master, such as mymaster',
      ),
    )
    .refine(
      ({ REDIS_SENTINELS: sentinels, REDIS_SENTINEL_MASTER: master, REDIS_SENTINEL_PASSWORD: password }) =>
        sentinels !== undefined || (master ?? password) === undefined,
      problemOf('REDIS_SENTINELS', 'must be set, since other variables speak of Sentinels'),
    )
    .refine(
      ({ REDIS_CLUSTER_NODES: nodes }) => !nodes?.database,
      problemOf('REDIS_CLUSTER_NODES', 'must not name a database: a Redis Cluster has only 0'),
    );
}

export function toRedisTarget(given: Given): RedisTarget {
  const { REDIS_CLUSTER_NODES: cluster, REDIS_SENTINELS: sentinels, REDIS_SENTINEL_MASTER: masterName } = given;
  if (cluster) return { kind: 'cluster', nodes: cluster.servers, access: cluster.access };
  if (!sentinels || masterName === undefined) return { kind: 'single', url: given.REDIS_URL ?? DEFAULT_URL };
  const { servers, access, database } = sentinels;
  const sentinelPassword = given.REDIS_SENTINEL_PASSWORD;
  return {
    kind: 'sentinel',
    sentinels: servers,
    masterName,
    access,
    database,
    ...(sentinelPassword !== undefined && { sentinelPassword }),
  };
}

/** Servers that share scheme, credentials and database. */
function readServerList(text: string) {
  const [, scheme, credentials = '', addresses = '', databaseText = '0'] = LIST.exec(text.trim()) ?? [];
  const servers = readItems(addresses, readAddress);
  const database = readInteger(databaseText, 0, LAST_DATABASE);
  const access = readCredentials(credentials);
  if (!servers || database === undefined || !access) return undefined;
  return { servers, access: { ...access, usesTls: scheme === 'rediss' }, database };
}

function readAddress(text: string): RedisAddress | undefined {
  const [, ipv6, name, portText = ''] = ADDRESS.exec(text) ?? [];
  const port = readInteger(portText, 1, 65_535);
  const host = ipv6 ?? name;
  return host !== undefined && port !== undefined ? { host, port } : undefined;
}

/** `user:password`, `:password` or nothing, percent-encoded as in a url. */
function readCredentials(text: string): Pick<RedisAccess, 'username' | 'password'> | undefined {
  try {
    const [, username, password] = (/^([^:]*):?(.*)$/s.exec(text) ?? []).map(decodeURIComponent);
    return { ...(username && { username }), ...(password && { password }) };
  } catch {
    return undefined; // not percent-encoded
  }
}
