import { codesOf, PROBLEMS, READINESS_CODES } from '@herald/core';
import { ERRORS_PAGE, START_LINKS, START_PAGE, toHtml } from './pages.ts';

test.each([
  ['a < b & "c"', 'a &lt; b &amp; &quot;c&quot;'],
  ['Send `Retry-After: <s>`.', 'Send <code>Retry-After: &lt;s&gt;</code>.'],
  ['An odd ` stays.', 'An odd ` stays.'],
])('%p is the HTML %p', (sentence, html) => {
  expect(toHtml(sentence)).toBe(html);
});

test('the page of codes has an anchor for each, once', () => {
  const anchors = [...ERRORS_PAGE.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  expect(anchors).toEqual(expect.arrayContaining(codesOf(PROBLEMS).map((code) => `problems-${code}`)));
  expect(anchors).toEqual(expect.arrayContaining(codesOf(READINESS_CODES).map((code) => `readiness-${code}`)));
  expect(anchors.filter((id, index) => anchors.indexOf(id) !== index)).toEqual([]);
});

test('the start page leads wherever the links for programs lead', () => {
  for (const { path } of START_LINKS.links) expect(START_PAGE).toContain(`href="${path}"`);
});
