import fc from 'fast-check';
import { EndpointUrl } from './endpoint.ts';

const UNITS = [
  '/',
  '.',
  '?',
  '%2e',
  '%2E',
  '&',
  '=',
  'a',
  ':',
  '@',
  "'",
  '"',
  '<',
  '{',
  '|',
  '^',
  '`',
  '[',
  '\\',
  ' ',
  'ü',
];
const target = fc.array(fc.constantFrom(...UNITS), { maxLength: 10 }).map((units) => units.join(''));

test('an accepted path and query are called as they are written, and what a refusal proposes is accepted', () => {
  const counts = { accepted: 0, proposed: 0 };
  fc.assert(
    fc.property(target, (text) => {
      const url = `https://example.com/${text}`;
      const { pathname, search } = new URL(url);
      const { success, error } = EndpointUrl.safeParse(url);
      const [, proposed] = /(?:; write|as it is called,) (\S+)$/.exec(error?.issues[0]?.message ?? '') ?? [];
      counts.accepted += success ? 1 : 0;
      counts.proposed += proposed === undefined ? 0 : 1;
      expect(success ? pathname + search : `/${text}`).toBe(`/${text}`);
      expect(EndpointUrl.safeParse(proposed ?? 'https://example.com').success).toBe(true);
    }),
    { numRuns: 2_000 },
  );
  expect(counts.accepted).toBeGreaterThan(50);
  expect(counts.proposed).toBeGreaterThan(50);
});
