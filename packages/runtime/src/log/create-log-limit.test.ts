import { createLogLimit } from './create-log-limit.ts';

function prepare() {
  import.meta.jest.useFakeTimers();
  const suppressed: [string, number][] = [];
  const isLogged = createLogLimit(2, 10_000, (subject, lines) => suppressed.push([subject, lines]));
  return { isLogged, suppressed };
}
afterEach(() => {
  import.meta.jest.useRealTimers();
});

test('lets so many lines about one thing through, and tells how many more there were', () => {
  const { isLogged, suppressed } = prepare();
  expect(['wh_1', 'wh_1', 'wh_1', 'wh_1', 'wh_2'].map(isLogged)).toEqual([true, true, false, false, true]);
  import.meta.jest.advanceTimersByTime(10_000);
  expect(suppressed).toEqual([['wh_1', 2]]);
});

test('lets lines through again when the window has ended', () => {
  const { isLogged, suppressed } = prepare();
  for (let line = 0; line < 3; line++) isLogged('wh_1');
  import.meta.jest.advanceTimersByTime(10_000);
  expect(isLogged('wh_1')).toBe(true);
  import.meta.jest.advanceTimersByTime(10_000);
  expect(suppressed).toEqual([['wh_1', 1]]);
});
