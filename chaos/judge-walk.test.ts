import { judgeWalk } from './judge-run.ts';

const entry = (id: string, second: number) => ({ id, createdAt: `2030-01-31T12:00:0${second}.000Z` });
const [A, B, C] = [entry('dlv_a', 3), entry('dlv_b', 2), entry('dlv_c', 1)];

const judge = (entries: readonly ReturnType<typeof entry>[], expected: readonly string[] = [], isWhole = true) =>
  judgeWalk('the list', { entries, isWhole, pages: 1, partial: 0 }, expected);

test('a list that shows all it has to, newest first, is as it must be, also with more than that', () => {
  expect(judge([A, B, C], ['dlv_c', 'dlv_a'])).toEqual([]);
  expect(judge([entry('dlv_2', 1), entry('dlv_1', 1)])).toEqual([]);
});

test.each([
  { what: 'twice', entries: [A, B, A], sentence: 'the list showed dlv_a twice' },
  {
    what: 'behind an older one',
    entries: [B, A],
    sentence: `the list showed dlv_a of ${A.createdAt} behind dlv_b of ${B.createdAt}`,
  },
  {
    what: 'behind a smaller id of the same time',
    entries: [entry('dlv_1', 1), entry('dlv_2', 1)],
    sentence: `the list showed dlv_2 of ${C.createdAt} behind dlv_1 of ${C.createdAt}`,
  },
])('a delivery $what is a violation', ({ entries, sentence }) => {
  expect(judge(entries)).toEqual([sentence]);
});

test('a delivery that is missing is a violation, unless the list was not read whole', () => {
  expect(judge([A, C], ['dlv_a', 'dlv_b'])).toEqual(['the list did not show dlv_b']);
  expect(judge([A, C], ['dlv_a', 'dlv_b'], false)).toEqual([]);
  expect(judge([A, A], [], false)).toEqual(['the list showed dlv_a twice']);
});
