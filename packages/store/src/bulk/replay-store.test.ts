import { NotFoundError, ReceiverDisabledError, REPLAY_LIMIT, ReplayLimitReachedError } from '@herald/core';
import { createReplayOperations, type ReplayStore } from './replay-store.ts';

test.each([
  ['missing', new NotFoundError('receiver', 'wh_1')],
  ['disabled', new ReceiverDisabledError('wh_1')],
  ['full', new ReplayLimitReachedError(REPLAY_LIMIT)],
] as const)('of a receiver that is %s no replay is requested', async (reply, error) => {
  const requested: unknown[] = [];
  const replays = { create: () => Promise.resolve(reply), find: () => Promise.resolve({ id: 'rpl_1' }) };
  const operations = createReplayOperations({
    replays: replays as unknown as ReplayStore,
    onRequested: (replay) => requested.push(replay),
    now: () => 1,
  });
  await expect(operations.request('ws_1', 'wh_1', { since: 0, statuses: ['failed'] } as never)).rejects.toThrow(error);
  expect(requested).toEqual([]);
});
