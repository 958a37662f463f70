import { SCOPES } from '@herald/store/access/api-key-store';
import { PORTAL_LINK_LIMIT } from '@herald/store/access/portal-link-store';
import { z } from 'zod';
import { type KeyedRouteTable, operation, type RouteTable } from '../http/operation.ts';
import { callerOf, workspaceOf } from '../http/request-state.ts';
import { TimeText, toTime } from '../http/answer-fields.ts';
import {
  CreatePortalLink,
  type ManagePortalLinks,
  PortalLinkCreation,
  PortalLinkDeleted,
  PortalLinkList,
} from './manage-portal-links.ts';

type PortalLinkRoutesDeps = { readonly portalLinks: ManagePortalLinks };

/** The links by which a platform lets its customers into the console. */
export const PORTAL_LINK_ROUTES: KeyedRouteTable<PortalLinkRoutesDeps> = {
  tag: 'Console',
  path: '/api/public/portal-links',
  access: 'webhooks',
  ids: { id: 'portal_link' },
  operations: [
    operation('createPortalLink', 'POST /', {
      audit: 'answer',
      summary: 'Make a link to the console',
      description: `Whoever has the link sees the receivers and deliveries of the workspace, and changes them unless it is read-only. It sees no input and no result of a Task. It ends with its time, with the API key that made it, or by \`DELETE /api/public/portal-links/{id}\`. A workspace has at most ${PORTAL_LINK_LIMIT} living links; those that operators made count apart.`,
      body: CreatePortalLink,
      answer: {
        status: 201,
        description: 'The link.',
        schema: PortalLinkCreation,
        headers: ['cache-control'],
      },
      problems: ['portal_link_limit_reached'],
      async handle({ portalLinks }, req, _res, request) {
        return await portalLinks.create(callerOf(req), request);
      },
    }),
    operation('listPortalLinks', 'GET /', {
      summary: 'List the links to the console',
      description:
        'Those that work now, newest first, with those that operators of the service made. Never a token. Links that were made before this operation was there are not listed; they end within a day.',
      answer: { status: 200, description: 'The links.', schema: PortalLinkList },
      async handle({ portalLinks }, req) {
        return await portalLinks.list(workspaceOf(req));
      },
    }),
    operation('revokePortalLink', 'DELETE /{id}', {
      audit: 'path',
      summary: 'End a link to the console',
      description: 'At once: every request with its token is refused from then on.',
      answer: { status: 200, description: 'It has ended.', schema: PortalLinkDeleted },
      async handle({ portalLinks }, req) {
        await portalLinks.revoke(workspaceOf(req), req.params.id);
        return { deleted: true };
      },
    }),
  ],
};

const AccessView = z
  .strictObject({
    workspaceId: z.string(),
    kind: z.enum(['api_key', 'portal_link']),
    scopes: z.array(z.enum(SCOPES)),
    readOnly: z.boolean(),
    operator: z.boolean().meta({ description: 'Whether it is a link that an operator made.' }),
    expiresAt: TimeText.meta({ description: 'Absent when it does not expire.' }).exactOptional(),
  })
  .meta({ id: 'Access', description: 'What the credentials of a request may do.' });

/** What a key or a link may do: a page asks it first. */
export const ACCESS_ROUTES: RouteTable<object> = {
  tag: 'Console',
  path: '/api/public/access',
  access: 'any',
  forPortalLinks: true,
  ids: {},
  operations: [
    operation('readAccess', 'GET /', {
      summary: 'Read what these credentials may do',
      answer: { status: 200, description: 'The workspace and its limits.', schema: AccessView },
      handle(_deps, req) {
        const { scopes, expiresAt, portalLink } = callerOf(req);
        return {
          workspaceId: workspaceOf(req),
          kind: portalLink ? ('portal_link' as const) : ('api_key' as const),
          scopes: [...scopes],
          readOnly: portalLink?.readOnly ?? false,
          operator: portalLink?.operator !== undefined,
          ...(expiresAt !== undefined && { expiresAt: toTime(expiresAt) }),
        };
      },
    }),
  ],
};
