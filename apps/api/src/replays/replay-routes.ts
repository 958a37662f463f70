import type { ReplayOperations } from '@herald/store/replays/create-replay-operations';
import { workspaceOf } from '../http/request-state.ts';
import { operation, type KeyedRouteTable } from '../http/operation.ts';
import { ReplayView, toReplayView } from './replay-view.ts';

/** The progress of a replay, and its end. */
export const REPLAY_ROUTES: KeyedRouteTable<{ readonly replays: ReplayOperations }> = {
  tag: 'Deliveries',
  path: '/api/public/replays',
  access: 'webhooks',
  forPortalLinks: true,
  ids: { id: 'replay' },
  operations: [
    operation('readReplay', 'GET /{id}', {
      summary: 'Read the progress of a replay',
      answer: { status: 200, description: 'The replay.', schema: ReplayView },
      async handle({ replays }, req) {
        return toReplayView(await replays.find(workspaceOf(req), req.params.id));
      },
    }),
    operation('stopReplay', 'DELETE /{id}', {
      audit: 'path',
      summary: 'Stop a replay',
      description: 'Deliveries that are already pending are still sent.',
      answer: { status: 200, description: 'The stopped replay.', schema: ReplayView },
      async handle({ replays }, req) {
        return toReplayView(await replays.stop(workspaceOf(req), req.params.id));
      },
    }),
  ],
};
