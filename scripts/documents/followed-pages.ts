/** Pages whose commands `tests/e2e/documents` types, beside the service of `npm start`. */
export const FOLLOWED_BESIDE_START = [
  'README.md',
  'docs/receiving.md',
  'docs/integrating.md',
  'docs/http.md',
  'docs/notices.md',
  'docs/egress.md',
  'examples/express-receiver/README.md',
  // Last: an executor works on whatever Tasks wait.
  'examples/executor-typescript/README.md',
];

/** Pages for Python beside that service, each with the modules that it needs. */
export const FOLLOWED_WITH_PYTHON: Readonly<Record<string, string>> = {
  'examples/executor-python/README.md': 'urllib',
  'examples/fastapi-receiver/README.md': 'fastapi, uvicorn',
};

/** Pages whose commands start a service of their own. */
export const FOLLOWED_ALONE = ['docs/operating.md'];
