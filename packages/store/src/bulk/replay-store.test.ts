import {
  NotFoundError,
  ReceiverDisabledError,
  REPLAY_LIMIT,
  ReplayLimitReachedError,
  ValidationError,
} from '@herald/core';
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

test.each<[string, { since: number; until?: number }, { since: number; until: number } | undefined]>([
  ['since before now, and until now', { since: 999 }, { since: 999, until: 1_001 }],
  ['since this moment, and until now', { since: 1_000 }, { since: 1_000, until: 1_001 }],
  ['since a time to come, and until now', { since: 1_001 }, undefined],
  ['in a range to come', { since: 1_001, until: 1_002 }, { since: 1_001, until: 1_002 }],
])('a replay of what was accepted %s ends after it begins, or is refused', async (_when, range, created) => {
  const made: unknown[] = [];
  const create = (_workspaceId: string, replay: object) => {
    made.push(replay);
    return Promise.resolve('created');
  };
  const operations = createReplayOperations({
    replays: { create, find: () => Promise.resolve({ id: 'rpl_1' }) } as unknown as ReplayStore,
    onRequested: () => undefined,
    now: () => 1_000,
  });
  const requested = operations.request('ws_1', 'wh_1', { ...range, status: ['failed'] });
  const outcome = await requested.then(
    () => 'made',
    (error: unknown) => (error instanceof ValidationError ? 'refused' : error),
  );
  expect(outcome).toBe(created ? 'made' : 'refused');
  expect(made).toMatchObject(created ? [created] : []);
});
