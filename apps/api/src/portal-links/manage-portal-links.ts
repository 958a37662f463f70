import { NotFoundError, PortalLinkLimitReachedError, type WorkspaceId } from '@herald/core';
import {
  PORTAL_LINK_LIMIT,
  type NewPortalLink,
  type PortalLinkStore,
} from '@herald/store/portal-links/portal-link-store';
import type { Logger } from '@herald/runtime/log/logger';
import type { z } from 'zod';
import { HttpFault } from '../http/problem.ts';
import type { Caller } from '../http/request-state.ts';
import { toTime } from '../http/to-time.ts';
import {
  toListedLink,
  type CreatePortalLink,
  type OpenWorkspace,
  type PortalLinkList,
  type PortalLinkView,
} from './portal-link-view.ts';

/** The life of a link that an operator makes, in ms. */
const OPERATOR_LIFE_MS = 3_600_000;

export type ManagePortalLinksDeps = {
  readonly portalLinks: PortalLinkStore;
  readonly isKnownWorkspace: (id: WorkspaceId) => Promise<boolean>;
  /** Where the service is reached. Undefined: links are paths. */
  readonly publicUrl: string | undefined;
  /** Undefined: there are no operator pages. */
  readonly operator: { readonly user: string; readonly canWrite: boolean } | undefined;
  readonly logger: Logger;
};

export function createManagePortalLinks(deps: ManagePortalLinksDeps) {
  const { portalLinks, isKnownWorkspace, publicUrl = '', operator, logger } = deps;
  const make = async (request: NewPortalLink) => {
    const made = await portalLinks.create(request);
    if (made === 'full') throw new PortalLinkLimitReachedError(PORTAL_LINK_LIMIT);
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
