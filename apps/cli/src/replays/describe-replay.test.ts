import type { Replay } from '@herald/store/replays/replay-record';
import { describeReplay } from './describe-replay.ts';

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
