import { SCOPES } from '@herald/store/api-keys/api-key-store';
import { z } from 'zod';
import { callerOf, workspaceOf } from '../http/request-state.ts';
import { TimeText, toTime } from '../http/to-time.ts';
import { operation, type RouteTable } from '../http/operation.ts';

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
