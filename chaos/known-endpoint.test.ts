import { createTimeline } from './known-endpoint.ts';

test('while a change is under way both values are possible, before and after it one', () => {
  const timeline = createTimeline('a');
  timeline.change({ value: 'b', from: 10, by: 20, until: 20 });
  expect(timeline.possible(0, 9)).toEqual(['a']);
  expect(timeline.possible(5, 12)).toEqual(['a', 'b']);
  expect(timeline.possible(15, 16)).toEqual(['a', 'b']);
  expect(timeline.possible(19, 40)).toEqual(['a', 'b']);
  expect(timeline.possible(20, 40)).toEqual(['b']);
  expect(timeline.latest()).toBe('b');
});

test('a request that was never answered may undo a later change, until one that began when it was over', () => {
  const timeline = createTimeline('a');
  timeline.change({ value: 'b', from: 10, by: 20, until: 50 });
  timeline.change({ value: 'c', from: 30, by: 31, until: 31 });
  expect(timeline.possible(40, 100)).toEqual(['b', 'c']);
  timeline.change({ value: 'd', from: 60, by: 61, until: 61 });
  expect(timeline.possible(40, 100)).toEqual(['b', 'c', 'd']);
  expect(timeline.possible(61, 100)).toEqual(['d']);
});

test('a change that may never have been made ends nothing before it', () => {
  const timeline = createTimeline('a');
  timeline.change({ value: 'b', from: 10, by: Infinity, until: 50 });
  expect(timeline.possible(60, 70)).toEqual(['a', 'b']);
  timeline.change({ value: 'c', from: 55, by: 56, until: 56 });
  expect(timeline.possible(60, 70)).toEqual(['c']);
});
