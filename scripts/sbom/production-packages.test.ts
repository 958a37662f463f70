import { findProductionPackages, type LockedPackage } from './production-packages.ts';

const find = (packages: Record<string, LockedPackage>) =>
  Object.fromEntries(findProductionPackages({ packages }, ['apps/api']));

test('a package is looked for from the inside out, and a link leads to its folder', () => {
  const packages = {
    'apps/api': { dependencies: { '@herald/core': '*', a: '1' } },
    'packages/core': { dependencies: { b: '2' } },
    'node_modules/@herald/core': { link: true, resolved: 'packages/core' },
    'node_modules/a': { dependencies: { b: '1' } },
    'node_modules/a/node_modules/b': {},
    'node_modules/b': {},
  };
  expect(find(packages)).toEqual({
    'apps/api': ['packages/core', 'node_modules/a'],
    'packages/core': ['node_modules/b'],
    'node_modules/a': ['node_modules/a/node_modules/b'],
    'node_modules/a/node_modules/b': [],
    'node_modules/b': [],
  });
});

test('what is optional counts where it is there, but no peer that is optional and there for development alone', () => {
  const optional = { optional: true };
  const packages = {
    'apps/api': {
      devDependencies: { dev: '1' },
      optionalDependencies: { here: '1', 'not-here': '1' },
      peerDependencies: { peer: '1', 'peer-not-here': '1', 'dev-peer': '1', 'optional-peer': '1' },
      peerDependenciesMeta: { 'peer-not-here': optional, 'dev-peer': optional, 'optional-peer': optional },
    },
    'node_modules/dev': { dev: true },
    'node_modules/here': {},
    'node_modules/peer': {},
    'node_modules/dev-peer': { dev: true },
    'node_modules/optional-peer': { devOptional: true },
  };
  expect(Object.keys(find(packages)).sort()).toEqual([
    'apps/api',
    'node_modules/here',
    'node_modules/optional-peer',
    'node_modules/peer',
  ]);
});

test('packages that need each other are found once', () => {
  const packages = {
    'apps/api': { dependencies: { a: '1' } },
    'node_modules/a': { dependencies: { b: '1' } },
    'node_modules/b': { dependencies: { a: '1' } },
  };
  expect(Object.keys(find(packages))).toEqual(['apps/api', 'node_modules/a', 'node_modules/b']);
});

test('a lock file that lacks something needed is an error', () => {
  expect(() => find({ 'apps/api': { dependencies: { a: '1' } } })).toThrow(
    'package-lock.json lacks a, which apps/api needs',
  );
});
