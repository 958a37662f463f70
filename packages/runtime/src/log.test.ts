import { createLogLimit } from './log.ts';

function prepare() {
  jest.useFakeTimers();
  const suppressed: [string | undefined, number][] = [];
  const { admits, close } = createLogLimit(2, 10_000, ({ subject, lines }) => suppressed.push([subject, lines]));
  return { admits, close, suppressed };
}
afterEach(() => {
  jest.useRealTimers();
});

test('lets so many lines about one thing through, and tells how many more there were', () => {
  const { admits, suppressed } = prepare();
  expect(['wh_1', 'wh_1', 'wh_1', 'wh_1', 'wh_2'].map((subject) => admits(subject))).toEqual([
    true,
    true,
    false,
    false,
    true,
  ]);
  jest.advanceTimersByTime(10_000);
  expect(suppressed).toEqual([['wh_1', 2]]);
});

test('lets lines through again when the window has ended', () => {
  const { admits, suppressed } = prepare();
  for (let line = 0; line < 3; line++) admits('wh_1');
  jest.advanceTimersByTime(10_000);
  expect(admits('wh_1')).toBe(true);
  jest.advanceTimersByTime(10_000);
  expect(suppressed).toEqual([['wh_1', 1]]);
});

test('an owner with very many subjects has five times as many lines, and nobody else has fewer', () => {
  const { admits, suppressed } = prepare();
  const written = Array.from({ length: 20_000 }, (_, index) => admits(`cb_${index}`, 'ws_1'));
  expect(written.filter(Boolean)).toHaveLength(10);
  expect(admits('cb_0', 'ws_1')).toBe(false);
  expect(admits('wh_1', 'ws_2')).toBe(true);
  jest.advanceTimersByTime(10_000);
  expect(suppressed).toEqual([
    ['cb_0', 1],
    [undefined, 19_990],
  ]);
});

test('tells in the end how many lines there were until then, and waits for nothing more', () => {
  const { admits, close, suppressed } = prepare();
  for (const subject of ['wh_1', 'wh_1', 'wh_1', 'wh_2']) admits(subject);
  close();
  expect(suppressed).toEqual([['wh_1', 1]]);
  expect(jest.getTimerCount()).toBe(0);
});
