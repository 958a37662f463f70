import type { Replay } from '@herald/store/bulk/replay-store';
import { describeReplay, watchReplay } from './replay-command.ts';

const REPLAY: Replay = {
  id: 'rpl_1',
  endpointId: 'wh_1',
  since: 0,
  until: 1,
  createdAt: 1,
  statuses: ['failed'],
  status: 'done',
  total: 5,
  seen: 5,
  replayed: 2,
};

test.each<[string, Partial<Replay>, RegExp]>([
  ['is under way', { status: 'running' }, /^Started replay rpl_1; "herald replay show rpl_1"/],
  ['is done', {}, /^Replayed 2 of 5 deliveries .*"herald deliveries list --receiver wh_1"/],
  ['found nothing', { replayed: 0 }, /^Nothing to replay: none of the 5/],
  ['was stopped', { status: 'stopped', seen: 3 }, /^Replay rpl_1 was stopped after 2 of 5/],
])('a replay that %s is told in a sentence that says what to type next', (_name, change, sentence) => {
  expect(describeReplay({ ...REPLAY, ...change })).toMatch(sentence);
});

const RUNNING: Replay = {
  id: 'rpl_1',
  endpointId: 'wh_1',
  since: 0,
  until: 1,
  createdAt: 1,
  statuses: ['failed'],
  status: 'running',
  total: 5,
  seen: 0,
  replayed: 0,
};

function recordProgress() {
  const shown: number[] = [];
  const state = { stopped: 0 };
  const startProgress = () => ({
    show: (seen: number) => void shown.push(seen),
    stop: () => {
      state.stopped++;
    },
  });
  return { shown, state, startProgress };
}

test('it shows how far the replay is until it ends', async () => {
  const { shown, state, startProgress } = recordProgress();
  const steps: Replay[] = [
    { ...RUNNING, seen: 3 },
    { ...RUNNING, status: 'done', seen: 5 },
  ];
  const read = () => Promise.resolve(steps.shift() ?? RUNNING);
  const ended = await watchReplay({ read, started: RUNNING, startProgress, signal: new AbortController().signal });
  expect(ended).toMatchObject({ status: 'done', seen: 5 });
  expect(shown).toEqual([0, 3]);
  expect(state.stopped).toBe(1);
});

test('an end of the watching returns the progress at once, and the replay goes on', async () => {
  const { state, startProgress } = recordProgress();
  const watching = new AbortController();
  const read = () => Promise.resolve({ ...RUNNING, seen: 2 });
  const seen = watchReplay({ read, started: RUNNING, startProgress, signal: watching.signal });
  watching.abort();
  expect(await seen).toMatchObject({ status: 'running', seen: 2 });
  expect(state.stopped).toBe(1);
});
