import { createLogLimit } from './log.ts';

function prepare() {
  import.meta.jest.useFakeTimers();
  const suppressed: [string, number][] = [];
  const { admits, close } = createLogLimit(2, 10_000, (subject, lines) => suppressed.push([subject, lines]));
  return { admits, close, suppressed };
}
afterEach(() => {
  import.meta.jest.useRealTimers();
});

test('lets so many lines about one thing through, and tells how many more there were', () => {
  const { admits, suppressed } = prepare();
  expect(['wh_1', 'wh_1', 'wh_1', 'wh_1', 'wh_2'].map(admits)).toEqual([true, true, false, false, true]);
  import.meta.jest.advanceTimersByTime(10_000);
  expect(suppressed).toEqual([['wh_1', 2]]);
});

test('lets lines through again when the window has ended', () => {
  const { admits, suppressed } = prepare();
  for (let line = 0; line < 3; line++) admits('wh_1');
  import.meta.jest.advanceTimersByTime(10_000);
  expect(admits('wh_1')).toBe(true);
  import.meta.jest.advanceTimersByTime(10_000);
  expect(suppressed).toEqual([['wh_1', 1]]);
});

test('tells in the end how many lines there were until then, and waits for nothing more', () => {
  const { admits, close, suppressed } = prepare();
  for (const subject of ['wh_1', 'wh_1', 'wh_1', 'wh_2']) admits(subject);
  close();
  expect(suppressed).toEqual([['wh_1', 1]]);
  expect(import.meta.jest.getTimerCount()).toBe(0);
});
