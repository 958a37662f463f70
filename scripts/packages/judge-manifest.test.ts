import { judgeManifest } from './judge-manifest.ts';

const FINE = {
  name: '@herald/receiver',
  version: '1.0.0',
  description: 'Receives.',
  license: 'MIT',
  keywords: ['a', 'b', 'c'],
  repository: { type: 'git', url: 'git+https://example.com/herald.git', directory: 'packages/receiver' },
  engines: { node: '>=20' },
  exports: { '.': { import: './dist/index.js' } },
};

test('a manifest that others can use has no problem', () => {
  expect(judgeManifest(FINE)).toEqual([]);
});

test.each([
  ['a condition for the source', { exports: { '.': { source: './src/index.ts' } } }, /condition source/],
  ['a private package', { devDependencies: { '@herald/core': '*' } }, /devDependencies names @herald\/core/],
  ['private itself', { private: true }, /private package/],
  ['no repository', { repository: undefined }, /repository/],
  ['no keywords', { keywords: [] }, /keywords/],
])('%s is a problem', (_what, change, problem) => {
  expect(judgeManifest({ ...FINE, ...change })).toEqual([expect.stringMatching(problem)]);
});
