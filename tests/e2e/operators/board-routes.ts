import { createRequire } from 'node:module';

interface BoardRoute {
  method: string | string[];
  route: string | string[];
}

// The routes of the version that the API uses, as the API finds it.
const requireFromApi = createRequire(new URL('../../../apps/api/package.json', import.meta.url));
const { appRoutes } = requireFromApi('@bull-board/api/dist/routes.js') as { appRoutes: { api: BoardRoute[] } };

/** All routes of bull-board's own API, below the board. */
export const ROUTES = appRoutes.api.flatMap(({ method, route }) =>
  [method].flat().flatMap((each) => [route].flat().map((path) => ({ method: each.toUpperCase(), path }))),
);

/** The path of a route with something in the place of each parameter. */
export function fill(path: string, queue: string, jobId: string): string {
  return path
    .replace(':queueName', queue)
    .replace(':jobId', jobId)
    .replace(':queueStatus', 'delayed')
    .replace(':schedulerId', 'daily');
}

/** A body that all routes would take. */
export const BODY = {
  name: 'task.done',
  data: { canary: 1 },
  options: {},
  jobData: { canary: 1 },
  runAt: Date.now(),
  priority: 1,
  concurrency: 1,
  max: 1,
  duration: 1_000,
  force: true,
  every: 1_000,
};
