import { namedEndpoint, NameEndpoint, NotFoundError } from '@herald/core';
import type { ActivityReader } from '@herald/store/activity/activity-reader';
import { z } from 'zod';
import { workspaceOf } from '../http/request-state.ts';
import { operation, type KeyedRouteTable } from '../http/operation.ts';

export type ActivityRoutesDeps = { readonly activity: ActivityReader };

const ActivityView = z
  .strictObject({
    version: z.string().min(1).max(64).meta({ description: 'Compare it with the last one. It has no other meaning.' }),
  })
  .meta({ id: 'Activity', description: 'Whether anything happened since the last look.' });

/** The cheap question of a page that watches: is there anything newer? */
export const ACTIVITY_ROUTES: KeyedRouteTable<ActivityRoutesDeps> = {
  tag: 'Deliveries',
  path: '/api/public/activity',
  access: 'webhooks',
  forPortalLinks: true,
  ids: {},
  operations: [
    operation('readActivity', 'GET /', {
      summary: 'Ask whether anything happened',
      description:
        'Of a receiver, of a callback, or of the whole workspace. The version changes when a delivery is accepted, attempted, redelivered or replayed, and when a receiver changes or its pending deliveries are canceled. It costs much less than a list: ask every few seconds, and read the list when the version has changed. It looks at no delivery, so it does not tell of the attempt of a test event, of what a removed receiver still had waiting, nor, for the whole workspace, of a redelivery to a callback before its attempt. So read the list every few minutes too. It may change although nothing happened.',
      query: NameEndpoint,
      answer: { status: 200, description: 'The version.', schema: ActivityView },
      problems: ['receiver_not_found'],
      async handle({ activity }, req, _res, query) {
        const endpoint = namedEndpoint(query);
        const version = await activity.readVersion(workspaceOf(req), endpoint);
        if (version === undefined) throw new NotFoundError('receiver', endpoint ?? '');
        return { version };
      },
    }),
  ],
};
