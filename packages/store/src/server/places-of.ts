import type { RedisAccess, RedisAddress, RedisTarget } from './redis-target.ts';

/** Where a client dials first, and how it signs in there. */
export type Places = { readonly addresses: readonly RedisAddress[]; readonly access: RedisAccess };

export function placesOf(target: RedisTarget): Places {
  switch (target.kind) {
    case 'cluster':
      return { addresses: target.nodes, access: target.access };
    case 'sentinel': {
      const { sentinels, sentinelPassword, access } = target;
      const own = sentinelPassword === undefined ? {} : { password: sentinelPassword };
      return { addresses: sentinels, access: { usesTls: access.usesTls, ...own } };
    }
    case 'single': {
      const url = URL.parse(target.url);
      if (!url) return { addresses: [], access: { usesTls: false } };
      const host = url.hostname.replace(/^\[|\]$/g, '');
      const signIn = {
        ...(url.username !== '' && { username: decodeURIComponent(url.username) }),
        ...(url.password !== '' && { password: decodeURIComponent(url.password) }),
      };
      const usesTls = url.protocol === 'rediss:';
      return { addresses: [{ host, port: Number(url.port || 6379) }], access: { usesTls, ...signIn } };
    }
  }
}
