import js from '@eslint/js';
import jest from 'eslint-plugin-jest';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** What opens outbound connections; `Socket` is one that can. */
const CONNECTING = {
  http: ['request', 'get', 'Agent', 'globalAgent', 'ClientRequest', 'default'],
  net: ['connect', 'createConnection', 'Socket', 'default'],
};

export default defineConfig(
  globalIgnores(['**/dist/', 'bench/results/', 'chaos/results/', '.herald/', 'apps/console/src/api/api-types.ts']),
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: { parserOptions: { project: './tsconfig.check.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true, argsIgnorePattern: '^_' }],
      'no-console': 'error',
      // winston declares its transports as interfaces, which this rule takes for foreign instances.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
    },
  },
  {
    // Processes read their environment once; everything else is handed values.
    files: ['packages/{core,runtime,egress,store,history,config}/src/**', 'apps/*/src/**'],
    ignores: ['apps/*/src/main.ts', '**/*.test.ts'],
    rules: { 'no-restricted-properties': ['error', { object: 'process', property: 'env' }] },
  },
  {
    // The guard is the one way out (docs/egress.md); dependency-cruiser keeps the other modules of the network from the rest.
    files: ['packages/{core,runtime,egress,store,history,config}/src/**', 'apps/*/src/**'],
    ignores: [
      'packages/egress/src/**',
      // Dials no address but those of Redis, as its client does.
      'packages/store/src/server/look-at-server.ts',
      '**/*.test.ts',
    ],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          paths: Object.entries(CONNECTING).flatMap(([name, importNames]) =>
            [name, `node:${name}`].map((module) => ({ name: module, importNames, allowTypeImports: true })),
          ),
        },
      ],
      'no-restricted-globals': ['error', 'fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest'],
    },
  },
  {
    // A program for browsers: its policy lets it call nothing but this API.
    files: ['apps/console/**'],
    languageOptions: {
      parserOptions: { project: ['./apps/console/tsconfig.json', './apps/console/tsconfig.test.json'] },
    },
    rules: { 'no-restricted-globals': 'off', 'no-restricted-properties': 'off' },
  },
  {
    files: ['**/*.test.ts'],
    ...jest.configs['flat/recommended'],
    rules: {
      ...jest.configs['flat/recommended'].rules,
      '@typescript-eslint/unbound-method': 'off',
      'jest/expect-expect': ['warn', { assertFunctionNames: ['expect', 'fc.assert'] }],
    },
  },
  {
    files: ['**/*.js', '**/*.cjs'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { globals: { module: 'writable', console: 'readonly', process: 'readonly', URL: 'readonly' } },
  },
  // The kit's default `onError` is the console of whoever installs it.
  { files: ['packages/receiver/src/handlers/receiver-options.ts'], rules: { 'no-console': 'off' } },
  { files: ['scripts/**', 'bench/**', 'chaos/**', 'apps/cli/**'], rules: { 'no-console': 'off' } },
);
