/** How a client signs in to a server. */
export type RedisAccess = {
  readonly username?: string;
  readonly password?: string;
  readonly usesTls: boolean;
};

export type RedisAddress = { readonly host: string; readonly port: number };

/** The Redis that a process works with: one server, the master that Sentinels name, or a Redis Cluster. */
export type RedisTarget =
  | { readonly kind: 'single'; readonly url: string }
  | {
      readonly kind: 'sentinel';
      readonly sentinels: readonly RedisAddress[];
      readonly masterName: string;
      /** To the Redis that they watch. */
      readonly access: RedisAccess;
      readonly database: number;
      /** Of the Sentinels themselves. */
      readonly sentinelPassword?: string;
    }
  | { readonly kind: 'cluster'; readonly nodes: readonly RedisAddress[]; readonly access: RedisAccess };

/** Where a client dials first, and how it signs in there. */
export function placesOf(target: RedisTarget): { addresses: readonly RedisAddress[]; access: RedisAccess } {
  switch (target.kind) {
    case 'cluster':
      return { addresses: target.nodes, access: target.access };
    case 'sentinel': {
      const { sentinels, sentinelPassword, access } = target;
      const own = sentinelPassword === undefined ? {} : { password: sentinelPassword };
      return { addresses: sentinels, access: { usesTls: access.usesTls, ...own } };
    }
    case 'single': {
      const { hostname, port, username, password, protocol } = new URL(target.url);
      const access = {
        usesTls: protocol === 'rediss:',
        ...(username !== '' && { username: decodeURIComponent(username) }),
        ...(password !== '' && { password: decodeURIComponent(password) }),
      };
      return { addresses: [{ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) }], access };
    }
  }
}

/** The options of a client that signs in like this. */
export function toSignInOptions({ username, password, usesTls }: RedisAccess) {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(usesTls && { tls: {} }),
  };
}

/** The user that a connection signs in as. */
export function userOf(target: RedisTarget): string {
  const { username } = target.kind === 'single' ? placesOf(target).access : target.access;
  return username ?? 'default';
}

/** Where it is, without any credential. */
export function describeTarget(target: RedisTarget): string {
  if (target.kind === 'single') {
    const { protocol, host } = new URL(target.url);
    return `Redis at ${protocol}//${host}`;
  }
  if (target.kind === 'cluster') return `The Redis Cluster at ${listAddresses(target.nodes)}`;
  return `The Redis that the Sentinels at ${listAddresses(target.sentinels)} call ${target.masterName}`;
}

/** The variable that says where it is, and how to sign in. */
export function variableOf({ kind }: RedisTarget): string {
  return { single: 'REDIS_URL', sentinel: 'REDIS_SENTINELS', cluster: 'REDIS_CLUSTER_NODES' }[kind];
}

function listAddresses(addresses: readonly RedisAddress[]): string {
  return addresses.map(({ host, port }) => `${host}:${port}`).join(', ');
}
