/** How a client signs in to the servers of a set-up. */
export type RedisAccess = {
  readonly username?: string;
  readonly password?: string;
  readonly usesTls: boolean;
};

export type RedisAddress = { readonly host: string; readonly port: number };

/** Which Redis a process works with: one server, the master that Sentinels name, or a Redis Cluster. */
export type RedisTarget =
  | { readonly kind: 'single'; readonly url: string }
  | {
      readonly kind: 'sentinel';
      readonly sentinels: readonly RedisAddress[];
      readonly masterName: string;
      /** Of the Redis that they watch. */
      readonly access: RedisAccess;
      readonly database: number;
      /** Of the Sentinels themselves. */
      readonly sentinelPassword?: string;
    }
  | { readonly kind: 'cluster'; readonly nodes: readonly RedisAddress[]; readonly access: RedisAccess };

/** Where it is, without any credential. */
export function describeTarget(target: RedisTarget): string {
  if (target.kind === 'single') {
    const parsed = URL.parse(target.url);
    return `Redis at ${parsed ? `${parsed.protocol}//${parsed.host}` : 'the given address'}`;
  }
  if (target.kind === 'cluster') return `The Redis Cluster at ${listAddresses(target.nodes)}`;
  return `The Redis that the Sentinels at ${listAddresses(target.sentinels)} call ${target.masterName}`;
}

/** Whom a connection signs in as. */
export function userOf(target: RedisTarget): string {
  const username =
    target.kind === 'single' ? decodeURIComponent(URL.parse(target.url)?.username ?? '') : target.access.username;
  return username === undefined || username === '' ? 'default' : username;
}

/** What says where it is, and how to sign in. */
export function variableOf({ kind }: RedisTarget): string {
  switch (kind) {
    case 'single':
      return 'REDIS_URL';
    case 'sentinel':
      return 'REDIS_SENTINELS';
    case 'cluster':
      return 'REDIS_CLUSTER_NODES';
  }
}

/** What to do when it can't be reached. */
export function remedyFor({ kind }: RedisTarget): string {
  switch (kind) {
    case 'single':
      return 'Start it (redis-server) or set REDIS_URL.';
    case 'sentinel':
      return 'See whether they know a master of that name (SENTINEL get-master-addr-by-name), or correct REDIS_SENTINELS and REDIS_SENTINEL_MASTER.';
    case 'cluster':
      return 'See whether it is whole (redis-cli cluster info), or correct REDIS_CLUSTER_NODES.';
  }
}

function listAddresses(addresses: readonly RedisAddress[]): string {
  return addresses.map(({ host, port }) => `${host}:${port}`).join(', ');
}
