import { readDuration, writeDuration } from './duration.ts';

test.each([
  ['500ms', 500],
  ['15s', 15_000],
  ['5m', 300_000],
  ['2h', 7_200_000],
  ['7d', 604_800_000],
  ['0s', 0],
  ['007s', 7_000],
  [' 15s\n', 15_000],
])('%j lasts %d ms', (text, ms) => {
  expect(readDuration(text)).toBe(ms);
});

test.each(['', 's', '15', '15 s', '1.5s', '-1s', '+1s', '15S', '15sec', '1w', '1h30m', '5s,5m', '1e3s', '1234567890s'])(
  '%j is no duration',
  (text) => {
    expect(readDuration(text)).toBeUndefined();
  },
);

test.each([
  [60_000, '1m'],
  [90_000, '90s'],
  [60_001, '60001ms'],
  [5_400_000, '90m'],
  [86_400_000, '24h'],
  [432_000_000, '120h'],
])('%d ms are written as %s, and read back', (ms, text) => {
  expect(writeDuration(ms)).toBe(text);
  expect(readDuration(text)).toBe(ms);
});
