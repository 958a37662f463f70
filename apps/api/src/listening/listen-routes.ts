import { TaskEventName } from '@herald/core';
import type { ApiKeyStore } from '@herald/store/access/api-key-store';
import { LISTENER_LIMIT } from '@herald/store/listening/listeners';
import type { PortalLinkStore } from '@herald/store/access/portal-link-store';
import { z } from 'zod';
import { bearerTokenOf } from '../auth/judge-access.ts';
import { callerOf, workspaceOf } from '../http/request-state.ts';
import { operation, SENT, type KeyedRouteTable } from '../http/operation.ts';
import type { Listeners } from './create-listeners.ts';

export type ListenRoutesDeps = {
  readonly listeners: Listeners;
  readonly apiKeys: Pick<ApiKeyStore, 'find'>;
  readonly findLink: PortalLinkStore['find'];
};

const Listen = z.strictObject({
  events: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(TaskEventName))
    .meta({
      description: 'Names of events, with commas between them. Absent: every event.',
      examples: ['task.done,task.canceled'],
    })
    .exactOptional(),
});

/** Events as they happen, for a program on somebody's own machine. */
export const LISTEN_ROUTES: KeyedRouteTable<ListenRoutesDeps> = {
  tag: 'Deliveries',
  path: '/api/public/listen',
  access: 'webhooks',
  ids: {},
  operations: [
    operation('listenToEvents', 'GET /', {
      summary: 'Listen to events while you develop',
      description: `The events of the workspace's Tasks, as server-sent events, from the moment of the first one, \`listening\`. Each has the name of its event as \`event\`, the body that receivers get as \`data\`, and as \`id\` a delivery id of this listener. For development alone: an event is shown at most once, what happens while nobody is connected is not shown later, and deliveries to receivers are the same with it and without. Every ten seconds a comment shows that the connection lives. The stream ends when its key expires or is revoked. When the service ends the stream, the last event is \`end\`, with \`reason\` (\`stopping\`, \`key_ended\`, \`place_taken\` or \`too_slow\`) and \`detail\`. At most ${LISTENER_LIMIT} listeners a workspace. \`herald-receiver listen\`, of the kit, brings the events to a local program, signed.`,
      query: Listen,
      answer: {
        status: 200,
        description: 'The stream. It stays open.',
        type: 'text/event-stream',
        schema: z.string(),
      },
      problems: ['listener_limit_reached'],
      async handle({ listeners, apiKeys, findLink }, req, res, { events = [] }) {
        if (req.method === 'HEAD') {
          res.type('text/event-stream').end();
          return SENT;
        }
        const token = bearerTokenOf(req) ?? '';
        const { portalLink, expiresAt } = callerOf(req);
        const isAllowed = async () => (await (portalLink ? findLink(token) : apiKeys.find(token))) !== undefined;
        await listeners.listen({ workspaceId: workspaceOf(req), events, isAllowed, expiresAt }, res);
        return SENT;
      },
    }),
  ],
};
