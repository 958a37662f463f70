import { createWaitJudge } from './judge-waits.ts';
import type { GroupSeen } from './look-at-queue.ts';

const GROUP: GroupSeen = {
  name: '{a}:dst_1',
  inWork: 0,
  isSuspect: false,
  isSlow: false,
  limit: 50,
  head: { id: 'dlv_1', since: 0 },
  known: '{"p":"1"}',
};
const { head: _head, ...withoutHead } = GROUP;
const FULL: GroupSeen = { ...GROUP, name: '{a}:dst_2', inWork: 50 };

/** Looks twice a second for six seconds. */
function judge(
  groupsAt: (at: number) => readonly GroupSeen[],
  ableSince: (at: number) => number | undefined = () => 0,
) {
  const waits = createWaitJudge();
  for (let at = 10_000; at <= 16_000; at += 500) waits.look(at, ableSince(at), [groupsAt(at)]);
  return waits.violations;
}

test('what waits for more than 5 s, although it may go, is found once', () => {
  expect(judge(() => [GROUP])).toEqual([
    'dlv_1 of {a}:dst_1 waited 5500 ms, although it might go and a worker lived: {"p":"1"}',
  ]);
});

test.each<[string, (at: number) => readonly GroupSeen[]]>([
  ['goes meanwhile', (at) => [{ ...GROUP, head: { id: at < 13_000 ? 'dlv_1' : 'dlv_2', since: 0 } }]],
  ['may not go yet', () => [withoutHead]],
  ['has no free slot in its group', () => [{ ...GROUP, inWork: 50 }]],
  ['has no free slot in any worker', () => [GROUP, FULL, { ...FULL, name: '{a}:dst_3' }]],
])('what %s is not', (_what, groupsAt) => {
  expect(judge(groupsAt)).toEqual([]);
});

test('what waits while no worker is there, or none for long enough, is not found', () => {
  expect(
    judge(
      () => [GROUP],
      () => undefined,
    ),
  ).toEqual([]);
  expect(
    judge(
      () => [GROUP],
      () => 11_500,
    ),
  ).toEqual([]);
  expect(
    judge(
      () => [GROUP],
      (at) => (at === 13_000 ? undefined : 0),
    ),
  ).toEqual([]);
});

test('a suspect has half of the slots, which those that are sound do not take', () => {
  const suspect = { ...GROUP, isSuspect: true, limit: 10 };
  expect(judge(() => [suspect, FULL])).toHaveLength(1);
  expect(judge(() => [suspect, { ...FULL, isSuspect: true }])).toEqual([]);
});

test('a slow group has slots of its own', () => {
  const slow = { ...GROUP, isSlow: true };
  expect(judge(() => [slow, FULL])).toHaveLength(1);
  expect(judge(() => [GROUP, { ...slow, inWork: 1_000 }])).toHaveLength(1);
  expect(judge(() => [slow, { ...slow, inWork: 1_000 }])).toEqual([]);
});

test('a machine that stood still shows nothing', () => {
  const waits = createWaitJudge();
  for (const at of [10_000, 12_500, 15_000, 17_500]) waits.look(at, 0, [[GROUP]]);
  expect(waits.violations).toEqual([]);
});
