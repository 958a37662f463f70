import { chooseRefused } from './memory-guard.ts';

const HOLDERS = [60, 20, 10, 10].map((bytes, index) => ({ workspaceId: `ws_${index}`, pending: 0, bytes }));

test.each([
  { share: 0.849, refused: 0 },
  { share: 0.85, refused: 1 },
  { share: 0.9, refused: 1 },
  { share: 0.92, refused: 2 },
  { share: 0.935, refused: 3 },
  { share: 0.95, refused: 4 },
])('of a Redis that is full to $share, the $refused that hold the most are refused', ({ share, refused }) => {
  expect([...chooseRefused(share, HOLDERS)]).toEqual(HOLDERS.slice(0, refused).map(({ workspaceId }) => workspaceId));
});

test('where nobody holds anything, nobody is refused', () => {
  expect(chooseRefused(0.94, []).size).toBe(0);
});
