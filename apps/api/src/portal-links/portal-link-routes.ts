import { callerOf } from '../http/request-state.ts';
import { operation, type KeyedRouteTable } from '../routing/operation.ts';
import type { ManagePortalLinks } from './manage-portal-links.ts';
import { CreatePortalLink, PortalLinkView } from './portal-link-view.ts';

export type PortalLinkRoutesDeps = { readonly portalLinks: ManagePortalLinks };

/** The links by which a platform lets its customers into the console. */
export const PORTAL_LINK_ROUTES: KeyedRouteTable<PortalLinkRoutesDeps> = {
  tag: 'Console',
  path: '/api/public/portal-links',
  access: 'webhooks',
  ids: {},
  operations: [
    operation('createPortalLink', 'POST /', {
      audit: 'answer',
      summary: 'Make a link to the console',
      description:
        'Whoever has the link sees the receivers and deliveries of the workspace, and changes them unless it is read-only. It sees no input and no result of a Task. It ends with its time, or with the API key that made it.',
      body: CreatePortalLink,
      answer: {
        status: 201,
        description: 'The link.',
        schema: PortalLinkView,
        headers: ['cache-control'],
      },
      async handle({ portalLinks }, req, _res, request) {
        return await portalLinks.create(callerOf(req), request);
      },
    }),
  ],
};
