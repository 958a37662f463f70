import { defineConfig } from 'oxfmt';

export default defineConfig({
  singleQuote: true,
  printWidth: 120,
  trailingComma: 'all',
  sortPackageJson: false,
  overrides: [{ files: ['*.md'], options: { proseWrap: 'always' } }],
  ignorePatterns: [
    'package-lock.json',
    'packages/receiver/vectors.json',
    'apps/console/src/api/api-types.ts',
    'packages/client/src/api/{api-types,operations}.ts',
    'ops/helm/herald/templates/',
  ],
});
