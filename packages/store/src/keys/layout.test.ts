import { layoutOfConnection, nameConnection } from './layout.ts';

test.each([
  ['herald-api', 1],
  ['herald-worker-queue', 1],
  [nameConnection('herald-api'), 4],
  [nameConnection('herald-worker-wait'), 4],
  ['herald-worker/13', 13],
  ['herald-cli', undefined],
  ['', undefined],
])('a connection that calls itself "%s" works on layout %s', (name, layout) => {
  expect(layoutOfConnection(name)).toBe(layout);
});
