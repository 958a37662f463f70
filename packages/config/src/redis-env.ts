import { z } from 'zod';
import type { RedisAccess, RedisAddress, RedisTarget } from '@herald/store/server/redis-target';

const DEFAULT_URL = 'redis://127.0.0.1:6379';
const DATABASES = 1_024;

/** Several servers that share scheme, credentials and database, as one text. */
type ServerList = {
  readonly servers: readonly RedisAddress[];
  readonly access: RedisAccess;
  readonly database: number;
};

const LIST = /^(?:(rediss?):\/\/)?(?:([^@/]*)@)?([^@/]+)(?:\/(\d{1,4}))?$/;
const ADDRESS = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/;

const ServerList = (example: string) =>
  z.string().transform((text, context): ServerList => {
    const read = readServerList(text.trim());
    if (read) return read;
    const message = `must be addresses separated by commas, such as ${example}; a scheme and credentials stand once, in front: rediss://user:password@${example}`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

/** Whether the client can take it apart: its own errors would show the whole url, password included. */
function isReadable(text: string): boolean {
  try {
    const { username, password } = new URL(text);
    return decodeURIComponent(`${username} ${password}`) !== '';
  } catch {
    return false;
  }
}

/** Whether what stands behind the address is a database: anything else the client takes for database 0. */
function namesDatabase(text: string): boolean {
  const { pathname, searchParams } = URL.parse(text) ?? { pathname: '', searchParams: new URLSearchParams() };
  return /^\/?\d{0,9}$/.test(pathname) && /^\d{1,9}$/.test(searchParams.get('db') ?? '0');
}

/** Variables that say which Redis to use. Exactly one of the first three is given, or none of them. */
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
  REDIS_MIN_REPLICAS: z
    .string()
    .regex(/^[0-5]$/, 'must be a whole number from 0 to 5')
    .default('0')
    .transform(Number),
});

const EXCLUSIVE = ['REDIS_URL', 'REDIS_CLUSTER_NODES', 'REDIS_SENTINELS'] as const;

type Given = {
  readonly REDIS_URL?: string | undefined;
  readonly REDIS_CLUSTER_NODES?: ServerList | undefined;
  readonly REDIS_SENTINELS?: ServerList | undefined;
  readonly REDIS_SENTINEL_MASTER?: string | undefined;
  readonly REDIS_SENTINEL_PASSWORD?: string | undefined;
};

/** Two addresses of one thing are a mistake, and one of them would be left unused without a word. */
export function withOneRedis<Schema extends z.ZodType<Given>>(schema: Schema): Schema {
  // Beside what else is wrong, not only once the rest is right.
  const when = () => true;
  const countGiven = (given: Given) => EXCLUSIVE.filter((name) => given[name] !== undefined).length;
  return schema
    .refine((given) => countGiven(given) <= 1, {
      path: ['REDIS_URL'],
      when,
      error: 'can be set, or REDIS_CLUSTER_NODES, or REDIS_SENTINELS: one of the three, since each says where Redis is',
    })
    .refine((given) => given.REDIS_SENTINELS === undefined || given.REDIS_SENTINEL_MASTER !== undefined, {
      path: ['REDIS_SENTINEL_MASTER'],
      when,
      error: 'must be set, since REDIS_SENTINELS is: the name under which they watch the master, such as mymaster',
    })
    .refine(
      (given) =>
        given.REDIS_SENTINELS !== undefined ||
        (given.REDIS_SENTINEL_MASTER ?? given.REDIS_SENTINEL_PASSWORD) === undefined,
      { path: ['REDIS_SENTINELS'], when, error: 'must be set, since other variables speak of Sentinels' },
    )
    .refine((given) => !given.REDIS_CLUSTER_NODES?.database, {
      path: ['REDIS_CLUSTER_NODES'],
      when,
      error: 'must not name a database: a Redis Cluster has only 0',
    });
}

export function toRedisTarget(given: Given): RedisTarget {
  const { REDIS_CLUSTER_NODES: cluster, REDIS_SENTINELS: sentinels, REDIS_SENTINEL_MASTER: masterName } = given;
  if (cluster) return { kind: 'cluster', nodes: cluster.servers, access: cluster.access };
  if (sentinels && masterName !== undefined) {
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
  return { kind: 'single', url: given.REDIS_URL ?? DEFAULT_URL };
}

function readServerList(text: string): ServerList | undefined {
  const [, scheme, credentials = '', addresses = '', database = '0'] = LIST.exec(text) ?? [];
  const servers = addresses.split(',').map((item) => readAddress(item.trim()));
  const read = servers.filter((server) => server !== undefined);
  if (read.length < servers.length || Number(database) >= DATABASES) return undefined;
  const access = readCredentials(credentials);
  return access && { servers: read, access: { ...access, usesTls: scheme === 'rediss' }, database: Number(database) };
}

function readAddress(text: string): RedisAddress | undefined {
  const [, ipv6, name, portText] = ADDRESS.exec(text) ?? [];
  const port = Number(portText);
  const host = ipv6 ?? name;
  return host !== undefined && port >= 1 && port <= 65_535 ? { host, port } : undefined;
}

/** `user:password`, `:password` or nothing, percent-encoded as in a url. */
function readCredentials(text: string): Pick<RedisAccess, 'username' | 'password'> | undefined {
  try {
    const colon = text.indexOf(':');
    const [username, password] = (colon < 0 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)]).map(
      decodeURIComponent,
    );
    return { ...(username && { username }), ...(password && { password }) };
  } catch {
    return undefined; // no percent-encoding
  }
}
