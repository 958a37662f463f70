import { appRoutes } from '@bull-board/api/dist/routes.js';
import { judgeAction, type BoardAction } from './judge-action.ts';

/** Every route of bull-board that changes something, and what it is when operators may write. */
const CHANGES: Record<string, BoardAction | 'refused'> = {
  'put /api/queues/pause': 'pauseQueue',
  'put /api/queues/resume': 'resumeQueue',
  'post /api/queues/:queueName/add': 'refused',
  'put /api/queues/:queueName/retry/:queueStatus': 'refused',
  'put /api/queues/:queueName/promote': 'refused',
  'put /api/queues/:queueName/clean/:queueStatus': 'refused',
  'put /api/queues/:queueName/pause': 'pauseQueue',
  'put /api/queues/:queueName/resume': 'resumeQueue',
  'put /api/queues/:queueName/concurrency': 'refused',
  'put /api/queues/:queueName/rate-limit': 'refused',
  'put /api/queues/:queueName/rate-limit/release': 'refused',
  'put /api/queues/:queueName/empty': 'refused',
  'put /api/queues/:queueName/obliterate': 'refused',
  'put /api/queues/:queueName/job-schedulers/:schedulerId/remove': 'refused',
  'patch /api/queues/:queueName/job-schedulers/:schedulerId': 'refused',
  'put /api/queues/:queueName/job-schedulers/:schedulerId/run': 'refused',
  'put /api/queues/:queueName/:jobId/retry': 'redeliverDelivery',
  'put /api/queues/:queueName/:jobId/clean': 'refused',
  'put /api/queues/:queueName/:jobId/promote': 'redeliverDelivery',
  'patch /api/queues/:queueName/:jobId/update-data': 'refused',
  'patch /api/queues/:queueName/:jobId/delay': 'refused',
  'patch /api/queues/:queueName/:jobId/priority': 'refused',
  'put /api/queues/:queueName/:jobId/remove-unprocessed-children': 'refused',
};

const routes = appRoutes.api.flatMap(({ method, route }) =>
  [method].flat().flatMap((each) => [route].flat().map((path) => ({ method: each, route: path }))),
);
const changing = routes.filter(({ method }) => method !== 'get');

test("every route of this version of bull-board's that changes something was judged here", () => {
  expect(changing.map(({ method, route }) => `${method} ${route}`).sort()).toEqual(Object.keys(CHANGES).sort());
});

test.each(routes)('$method $route is as the table says', ({ method, route }) => {
  const change = CHANGES[`${method} ${route}`];
  const judge = (canWrite: boolean) => judgeAction({ method, route, canWrite });
  expect(judge(false)).toMatchObject(change === undefined ? { allow: true } : { allow: false, status: 405 });
  expect(judge(true)).toMatchObject(
    change === undefined
      ? { allow: true }
      : change === 'refused'
        ? { allow: false, status: 403 }
        : { allow: true, action: change },
  );
});

test.each(['delete', 'post', 'options', 'all'])(
  'a route to come, by %s, is refused until somebody judges it',
  (method) => {
    expect(judgeAction({ method, route: '/api/new', canWrite: true })).toMatchObject({ allow: false });
  },
);
