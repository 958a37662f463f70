import { randomBytes } from 'node:crypto';
import type { WorkspaceId } from '@herald/core';
import { createBoundedMap } from '@herald/runtime/async/bounded-map';
import type { ApiKey } from '../api-keys/api-key-store.ts';
import { digestApiKey, isPortalTokenText, isSameProof, newPortalToken } from '../api-keys/api-key-text.ts';
import { GLOBAL_KEYS } from '../keyspace/keys.ts';
import { demandReplicated } from '../scripts/await-replication.ts';
import type { ReplicatedStoreDeps } from '../scripts/replicated-script.ts';

/** A link to the console of one workspace. Its token is shown once and never stored. Times are epoch ms. */
export type PortalLink = {
  readonly id: string;
  readonly workspaceId: WorkspaceId;
  readonly readOnly: boolean;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** The user name of the operator who made it. Absent: a platform made it, with an API key. */
  readonly operator?: string;
};

export type NewPortalLink = Pick<PortalLink, 'workspaceId' | 'readOnly'> & {
  /** How long it works, in ms. */
  readonly lifeMs: number;
  readonly madeBy: Pick<ApiKey, 'id' | 'expiresAt'> | { readonly operator: string };
};

/** Links whose API keys are remembered. */
const MAKERS_LIMIT = 10_000;

export function createPortalLinkStore(deps: ReplicatedStoreDeps & { readonly now: () => number }) {
  const { redis, awaitReplication, now } = deps;
  // Which key made a link never changes. Knowing it, a request asks for the link and for its key at once.
  const makers = createBoundedMap<string, string>(MAKERS_LIMIT);
  const hasKey = async (keyLookUp: string) => (await redis.exists(GLOBAL_KEYS.apiKey(keyLookUp))) > 0;
  return {
    /**
     * Stores a new link, and returns its token in clear, this once. Undefined when the API key was revoked meanwhile.
     * @throws UnavailableError when too few replicas have it in time
     */
    async create({ workspaceId, readOnly, lifeMs, madeBy }: NewPortalLink) {
      const createdAt = now();
      const maker =
        'operator' in madeBy
          ? { operator: madeBy.operator }
          : { keyLookUp: await redis.hget(GLOBAL_KEYS.apiKeyIndex, madeBy.id) };
      if ('keyLookUp' in maker && maker.keyLookUp === null) return undefined;
      const keyEndsAt = 'operator' in madeBy ? Infinity : (madeBy.expiresAt ?? Infinity);
      const expiresAt = Math.min(createdAt + lifeMs, keyEndsAt);
      const id = `plk_${randomBytes(8).toString('hex')}`;
      const token = newPortalToken();
      const { lookUp, proof } = digestApiKey(token);
      const key = GLOBAL_KEYS.portalLink(lookUp);
      const fields = { id, workspaceId, createdAt, expiresAt, proof, ...maker, ...(readOnly && { readOnly: '1' }) };
      await redis.multi().hset(key, fields).pexpireat(key, expiresAt).exec();
      await demandReplicated(awaitReplication, { key });
      const link: PortalLink = { id, workspaceId, readOnly, createdAt, expiresAt };
      return { token, link: 'operator' in madeBy ? { ...link, operator: madeBy.operator } : link };
    },
    /** The link of a token, if it works now. It ends with the API key that made it. */
    find: async (token: string): Promise<PortalLink | undefined> => {
      if (!isPortalTokenText(token)) return undefined;
      const { lookUp, proof } = digestApiKey(token);
      const knownMaker = makers.get(lookUp);
      const [fields, hasKnownMaker] = await Promise.all([
        redis.hgetall(GLOBAL_KEYS.portalLink(lookUp)),
        knownMaker !== undefined && hasKey(knownMaker),
      ]);
      const link = readPortalLink(fields);
      if (!link || !isSameProof(proof, fields.proof) || link.expiresAt <= now()) return undefined;
      const { keyLookUp } = fields;
      if (keyLookUp === undefined) return link;
      if (keyLookUp === knownMaker) return hasKnownMaker ? link : undefined;
      makers.set(lookUp, keyLookUp);
      return (await hasKey(keyLookUp)) ? link : undefined;
    },
  };
}
export type PortalLinkStore = ReturnType<typeof createPortalLinkStore>;

function readPortalLink(fields: Record<string, string>): PortalLink | undefined {
  const { id, workspaceId, createdAt, expiresAt, readOnly, operator } = fields;
  if (id === undefined || workspaceId === undefined) return undefined;
  return {
    id,
    workspaceId,
    readOnly: readOnly === '1',
    createdAt: Number(createdAt),
    expiresAt: Number(expiresAt),
    ...(operator !== undefined && { operator }),
  };
}
