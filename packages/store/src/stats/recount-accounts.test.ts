import { judgeDifference } from './recount-accounts.ts';

const quiet = (account: number, counted: number) => ({ before: account, counted, after: account });

test.each([
  { when: 'nothing differs', walks: [quiet(5, 5), quiet(5, 5)], difference: 0 },
  { when: 'the account says too little', walks: [quiet(5, 8), quiet(6, 9)], difference: 3 },
  { when: 'it says too much', walks: [quiet(5, 1), quiet(5, 1)], difference: -4 },
  {
    when: 'it moved past what was counted',
    walks: [{ before: 100, counted: 50, after: 0 }, quiet(0, 0)],
    difference: 0,
  },
  {
    when: 'it moved, and both walks found more',
    walks: [
      { before: 10, counted: 40, after: 20 },
      { before: 20, counted: 50, after: 45 },
    ],
    difference: 5,
  },
  { when: 'only one walk found it', walks: [quiet(5, 8), quiet(8, 8)], difference: 0 },
  { when: 'one found more and the other less', walks: [quiet(5, 8), quiet(5, 2)], difference: 0 },
])('where $when, the account is mended by $difference', ({ walks, difference }) => {
  expect(judgeDifference(walks)).toBe(difference);
});
