/** Pages whose commands `tests/e2e/documents` types, beside the service of `npm start`. */
export const FOLLOWED_BESIDE_START = [
  'README.md',
  'docs/receiving.md',
  'docs/integrating.md',
  'docs/http.md',
  'docs/notices.md',
  'docs/egress.md',
];

/** Pages whose commands start a service of their own. */
export const FOLLOWED_ALONE = ['docs/operating.md'];
