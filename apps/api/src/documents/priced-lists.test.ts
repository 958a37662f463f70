import type { Request } from 'express';
import type { z } from 'zod';
import { DELIVERY_ROUTES } from '../deliveries/delivery-routes.ts';
import { stateOf } from '../http/request-state.ts';
import { RECEIVER_ROUTES } from '../receivers/receiver-routes.ts';
import { TASK_ROUTES } from '../tasks/task-routes.ts';

/** Whatever it is asked for, it has. */
const ANYTHING: unknown = new Proxy(() => undefined, {
  get: (_target, name) => (name === 'then' ? undefined : name === Symbol.iterator ? [][Symbol.iterator] : ANYTHING),
  apply: () => ANYTHING,
});

const READ = [TASK_ROUTES, DELIVERY_ROUTES, RECEIVER_ROUTES].flatMap(({ operations }) =>
  operations.filter(({ id, query }) => id === 'readTask' || (query as z.ZodObject | undefined)?.shape.cursor),
);

test('every list that a customer reads has its price, and so has a Task with all that it holds', async () => {
  const ids = READ.map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining(['readTask', 'listWorkspaceTasks', 'listTaskDeliveries']));
  expect(ids).toEqual(expect.arrayContaining(['listDeliveries', 'listReceiverDeliveries']));
  const readPriced = () => Promise.reject(new Error('priced'));
  for (const { id, handle } of READ) {
    const deps = new Proxy(
      { readPriced },
      { get: (target, name) => (name === 'readPriced' ? target.readPriced : ANYTHING) },
    );
    const req = { params: { id: 'x' }, headers: {} } as unknown as Request;
    stateOf(req).caller = { workspaceId: 'ws_1', scopes: [], by: 'key_1' };
    const handled = Promise.resolve().then(() => handle(deps as never, req as never, ANYTHING as never, {}));
    await expect(handled.then(() => id)).rejects.toThrow('priced');
  }
});
