import { atBeat, BEAT_MS, everyBeat } from './beat.ts';

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

test('what waits for one beat runs in one turn of the event loop, under one timer', () => {
  const ran: string[] = [];
  atBeat(2 * BEAT_MS, () => ran.push('first'));
  atBeat(1.9 * BEAT_MS, () => ran.push('second'));
  const giveUp = everyBeat(BEAT_MS, () => ran.push('each'));
  expect(jest.getTimerCount()).toBe(1);
  jest.advanceTimersByTime(BEAT_MS);
  expect(ran).toEqual(['each']);
  jest.advanceTimersToNextTimer();
  expect(ran.toSorted()).toEqual(['each', 'each', 'first', 'second']);
  giveUp();
});

test('what waited too long, because the process stood still, runs at the next beat', () => {
  let ran = 0;
  const giveUp = everyBeat(8 * BEAT_MS, () => ran++);
  jest.advanceTimersByTime(BEAT_MS);
  // The timer comes late, and once.
  jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 20 * BEAT_MS);
  jest.advanceTimersByTime(BEAT_MS);
  expect(ran).toBe(1);
  giveUp();
});

test.each([
  [0, 1],
  [0.4, 1],
  [1.4, 1],
  [1.6, 2],
  [10, 10],
])('%p times a beat is over at beat %p', (times, beat) => {
  let ran = 0;
  atBeat(times * BEAT_MS, () => ran++);
  jest.advanceTimersByTime((beat - 1) * BEAT_MS);
  expect(ran).toBe(0);
  jest.advanceTimersByTime(BEAT_MS);
  expect(ran).toBe(1);
});

test('what is repeated keeps its distance, and ends when it is given up', () => {
  const at: number[] = [];
  const startedAt = Date.now();
  const giveUp = everyBeat(3 * BEAT_MS, () => at.push((Date.now() - startedAt) / BEAT_MS));
  jest.advanceTimersByTime(10 * BEAT_MS);
  giveUp();
  expect(at).toEqual([3, 6, 9]);
  expect(jest.getTimerCount()).toBe(0);
});

test('one may give up another of the same beat, and itself, and begin one more', () => {
  const ran: string[] = [];
  const giveUpAll = (): void => {
    for (const giveUp of giveUps) giveUp();
  };
  const giveUps = [everyBeat(BEAT_MS, giveUpAll), atBeat(BEAT_MS, () => ran.push('given up'))];
  atBeat(BEAT_MS, () => {
    atBeat(BEAT_MS, () => ran.push('begun'));
  });
  jest.advanceTimersByTime(BEAT_MS);
  expect(ran).toEqual([]);
  jest.advanceTimersByTime(BEAT_MS);
  expect(ran).toEqual(['begun']);
  expect(jest.getTimerCount()).toBe(0);
});
