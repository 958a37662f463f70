import { readFileSync } from 'node:fs';
import { judgeManifest } from './judge-manifest.ts';

const FINE = {
  name: '@herald/receiver',
  version: '1.0.0',
  description: 'Receives.',
  license: 'MIT',
  keywords: ['a', 'b', 'c'],
  repository: { type: 'git', url: 'git+https://example.com/herald.git', directory: 'packages/receiver' },
  homepage: 'https://example.com/herald/tree/main/packages/receiver#readme',
  bugs: 'https://example.com/herald/issues',
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

test.each(['receiver', 'client'])(
  'where the source of %s is follows from the address in the repository’s package.json',
  (name) => {
    const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
    const { repository } = read('../../package.json') as { repository: { url: string } };
    const page = repository.url.replace(/^git\+/, '').replace(/\.git$/, '');
    expect(read(`../../packages/${name}/package.json`)).toMatchObject({
      repository: { ...repository, directory: `packages/${name}` },
      homepage: `${page}/tree/main/packages/${name}#readme`,
      bugs: `${page}/issues`,
    });
  },
);
