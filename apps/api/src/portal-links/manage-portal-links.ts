import type { ApiConfig } from '@herald/config/api-config';
import { NotFoundError, PortalLinkIdText, PortalLinkLimitReachedError, type WorkspaceId } from '@herald/core';
import type { Logger } from '@herald/runtime/log';
import { createActivityReader } from '@herald/store/stats/activity-reader';
import type { Keyspace } from '@herald/store/keys/keys';
import { createSearch } from '@herald/store/operators/search';
import {
  createPortalLinkStore,
  makerOf,
  type NewPortalLink,
  PORTAL_LINK_LIMIT,
  type PortalLink,
  type PortalLinkStore,
} from '@herald/store/access/portal-link-store';
import type { ReplicatedStoreDeps } from '@herald/store/redis/await-replication';
import { createStatsReader } from '@herald/store/stats/stats-reader';
import { z } from 'zod';
import { createReadStats } from '../deliveries/stats.ts';
import { HttpFault } from '../http/problem.ts';
import type { Caller } from '../http/request-state.ts';
import { ShownOnce, TimeText, toTime } from '../http/answer-fields.ts';

/** The life of a link that an operator makes, in ms. */
const OPERATOR_LIFE_MS = 3_600_000;

type ManagePortalLinksDeps = {
  readonly portalLinks: PortalLinkStore;
  readonly isKnownWorkspace: (id: WorkspaceId) => Promise<boolean>;
  /** Where the service is reached. Undefined: links are paths. */
  readonly publicUrl: string | undefined;
  /** Undefined: there are no operator pages. */
  readonly operator: { readonly user: string; readonly canWrite: boolean } | undefined;
  readonly logger: Logger;
};

function createManagePortalLinks(deps: ManagePortalLinksDeps) {
  const { portalLinks, isKnownWorkspace, publicUrl = '', operator, logger } = deps;
  const make = async (request: NewPortalLink) => {
    const made = await portalLinks.create(request);
    if (made === 'full') {
      throw new PortalLinkLimitReachedError(PORTAL_LINK_LIMIT, 'operator' in request.madeBy ? 'operator' : 'tenant');
    }
    if (made === 'key_ended') throw new HttpFault('unauthenticated', 'this API key was revoked just now');
    return made;
  };
  const toView = (made: Awaited<ReturnType<typeof make>>): z.infer<typeof PortalLinkView> => ({
    id: made.link.id,
    // Browsers keep a fragment to themselves: no server and no log sees the token.
    url: `${publicUrl}/console#token=${made.token}`,
    token: made.token,
    expiresAt: toTime(made.link.expiresAt),
    readOnly: made.link.readOnly,
  });
  return {
    async create({ by, workspaceId = '', expiresAt }: Caller, asked: z.infer<typeof CreatePortalLink>) {
      const made = await make({
        workspaceId,
        readOnly: asked.readOnly,
        lifeMs: asked.expiresInSeconds * 1_000,
        madeBy: { id: by, ...(expiresAt !== undefined && { expiresAt }) },
      });
      return toView(made);
    },
    async createAsOperator(workspaceId: WorkspaceId, { readOnly }: z.infer<typeof OpenWorkspace>) {
      if (!operator) throw new Error('only operators get here');
      if (!(await isKnownWorkspace(workspaceId))) throw new NotFoundError('workspace', workspaceId);
      const made = await make({
        workspaceId,
        readOnly: readOnly || !operator.canWrite,
        lifeMs: OPERATOR_LIFE_MS,
        madeBy: { operator: operator.user },
      });
      return toView(made);
    },
    async list(workspaceId: WorkspaceId): Promise<z.infer<typeof PortalLinkList>> {
      return { portalLinks: (await portalLinks.list(workspaceId)).map(toListedLink) };
    },
    /** @throws NotFoundError */
    async revoke(workspaceId: WorkspaceId, id: string): Promise<void> {
      const told = await portalLinks.revoke(workspaceId, id);
      if (!told) throw new NotFoundError('portal_link', id);
      logUntold(logger, told, { workspaceId, portalLinkId: id });
    },
  };
}
export type ManagePortalLinks = ReturnType<typeof createManagePortalLinks>;

/** Streams of what was revoked may go on for a while where this could not be told to those who serve them. */
export function logUntold(
  logger: Logger,
  { untold }: { readonly untold?: unknown },
  ids: { readonly workspaceId: WorkspaceId; readonly keyId?: string; readonly portalLinkId?: string },
): void {
  if (untold !== undefined) logger.warn('listen.revocation_not_told', ids, untold);
}

/** The longest life of a portal link, in seconds. */
const LONGEST_S = 86_400;

const READ_ONLY = z.boolean().meta({ description: 'Whether the link can only read.' });

/** Body of `POST /api/public/portal-links`. */
export const CreatePortalLink = z
  .strictObject({
    expiresInSeconds: z
      .int()
      .min(60)
      .max(LONGEST_S)
      .default(3_600)
      .meta({ description: 'How long it works. It never works longer than the API key that made it.' }),
    readOnly: READ_ONLY.default(false),
  })
  .meta({ id: 'CreatePortalLink' });

/** Body of the operation by which an operator opens a workspace's pages. */
export const OpenWorkspace = z.strictObject({ readOnly: READ_ONLY.default(false) }).meta({ id: 'OpenWorkspace' });

const TOKEN_EXAMPLE = 'hrlp_7tVQn0yJxk3LbM9cWf2RzD6sHgA8pE1uXaBcDe';
const LINK_EXAMPLE = {
  id: 'plk_0f1e2d3c4b5a6978',
  createdAt: '2030-01-31T12:00:00.000Z',
  expiresAt: '2030-01-31T13:00:00.000Z',
  readOnly: true,
  createdBy: 'key_0123456789abcdef',
};

const MadeFields = { id: PortalLinkIdText, expiresAt: TimeText, readOnly: READ_ONLY };

export const PortalLinkView = z
  .strictObject({
    ...MadeFields,
    url: z.string().meta({
      description: 'The console, signed in. Absolute where `PUBLIC_URL` is set, else a path. Whoever has it is in.',
    }),
    token: z.string().meta({ description: 'The bearer token in the url. Shown only in this answer.' }),
  })
  .meta({
    id: 'PortalLink',
    description: 'A link to the console of one workspace.',
    examples: [
      {
        id: LINK_EXAMPLE.id,
        url: `https://herald.example.com/console#token=${TOKEN_EXAMPLE}`,
        token: TOKEN_EXAMPLE,
        expiresAt: LINK_EXAMPLE.expiresAt,
        readOnly: false,
      },
    ],
  });

const RepeatedPortalLink = z
  .strictObject(MadeFields)
  .meta({ id: 'RepeatedPortalLink', description: 'The answer to a new link, repeated for its `Idempotency-Key`.' });

export const PortalLinkCreation = ShownOnce('PortalLinkCreation', PortalLinkView, RepeatedPortalLink);

export const PortalLinkList = z
  .strictObject({
    portalLinks: z.array(
      z
        .strictObject({
          id: PortalLinkIdText,
          createdAt: TimeText,
          expiresAt: TimeText,
          readOnly: READ_ONLY,
          createdBy: z.string().meta({
            description:
              'The id of the API key that made it, or `operator` for one that an operator of the service made.',
            examples: [LINK_EXAMPLE.createdBy],
          }),
        })
        .meta({ id: 'ListedPortalLink' }),
    ),
  })
  .meta({ id: 'PortalLinkList', examples: [{ portalLinks: [LINK_EXAMPLE] }] });

/** A link in a list: never its token, nor the url that has it. */
function toListedLink(link: PortalLink): z.infer<typeof PortalLinkList>['portalLinks'][number] {
  const { id, createdAt, expiresAt, readOnly } = link;
  return { id, createdAt: toTime(createdAt), expiresAt: toTime(expiresAt), readOnly, createdBy: makerOf(link) };
}

export const PortalLinkDeleted = z.strictObject({ deleted: z.boolean() }).meta({ id: 'PortalLinkDeleted' });

type ConsoleDepsOptions = ReplicatedStoreDeps & {
  readonly keyspace: Keyspace;
  readonly config: Pick<ApiConfig, 'publicUrl' | 'operator'>;
  readonly logger: Logger;
  /** Epoch ms. */
  readonly now: () => number;
};

/** What the console needs beside the operations of customers. */
export function createConsoleDeps(options: ConsoleDepsOptions) {
  const { config, logger } = options;
  const portalLinks = createPortalLinkStore(options);
  return {
    findLink: portalLinks.find,
    portalLinkStore: portalLinks,
    portalLinks: createManagePortalLinks({
      portalLinks,
      isKnownWorkspace: createSearch(options).isKnownWorkspace,
      publicUrl: config.publicUrl,
      operator: config.operator,
      logger,
    }),
    activity: createActivityReader(options),
    readStats: createReadStats(createStatsReader(options)),
  };
}
