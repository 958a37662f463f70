import { FrameAncestors } from './frame-ancestors.ts';

test('without it nobody may show the console in a frame', () => {
  expect(FrameAncestors.parse(undefined)).toEqual([]);
});

test.each([
  ['https://app.example.com', ['https://app.example.com']],
  [
    'https://a.example, https://*.b.example:8443,http://localhost:3000',
    ['https://a.example', 'https://*.b.example:8443', 'http://localhost:3000'],
  ],
])('%s', (text, origins) => {
  expect(FrameAncestors.parse(text)).toEqual(origins);
});

test.each([
  '*',
  'https:',
  'https://a.example/',
  'https://a.example/path',
  "'self'",
  'https://a.example; script-src *',
  'a.example',
  'https://A.example',
  'https://a.example,',
])('%s is none', (text) => {
  expect(FrameAncestors.safeParse(text).error?.issues[0]?.message).toContain('must be origins');
});
