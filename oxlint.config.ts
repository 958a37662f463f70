import { defineConfig } from 'oxlint';

/** What opens outbound connections; `Socket` is one that can. */
const CONNECTING = {
  http: ['request', 'get', 'Agent', 'globalAgent', 'ClientRequest', 'default'],
  net: ['connect', 'createConnection', 'Socket', 'default'],
};

const SERVICE = ['packages/{core,runtime,egress,store,history,config}/src/**', 'apps/*/src/**'];

/** What a value of no known type breaks. */
const UNSAFE = ['argument', 'assignment', 'call', 'member-access', 'return'].map((what) => `no-unsafe-${what}`);

const errors = (prefix: string, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [`${prefix}${name}`, 'error' as const]));

export default defineConfig({
  plugins: ['eslint', 'typescript'],
  categories: { correctness: 'error' },
  options: { typeAware: true, denyWarnings: true, reportUnusedDisableDirectives: 'error' },
  env: { builtin: true },
  ignorePatterns: [
    '**/dist/',
    'packages/*/cjs/',
    'bench/results/',
    'chaos/results/',
    '.herald/',
    'apps/console/src/api/api-types.ts',
    'packages/client/src/api/{api-types,operations}.ts',
  ],
  rules: {
    ...errors('', [
      ...['no-case-declarations', 'no-fallthrough', 'no-prototype-builtins', 'no-array-constructor', 'no-empty'],
      ...['no-regex-spaces', 'no-empty-function', 'no-console', 'no-var', 'prefer-const', 'prefer-rest-params'],
      ...['prefer-spread', 'no-unexpected-multiline', 'preserve-caught-error', 'no-useless-constructor'],
      'no-useless-assignment',
    ]),
    ...errors('typescript/', [
      ...UNSAFE,
      ...['no-explicit-any', 'no-unsafe-function-type', 'no-non-null-assertion', 'no-dynamic-delete'],
      ...['use-unknown-in-catch-callback-variable', 'ban-ts-comment', 'no-empty-object-type', 'no-invalid-void-type'],
      // What may never happen, or says nothing.
      ...['no-unnecessary-boolean-literal-compare', 'no-unnecessary-template-expression', 'no-extraneous-class'],
      ...['no-unnecessary-type-arguments', 'no-unnecessary-type-assertion', 'no-unnecessary-type-constraint'],
      ...['no-unnecessary-type-conversion', 'no-unnecessary-type-parameters', 'no-unsafe-enum-comparison'],
      ...['no-non-null-asserted-nullish-coalescing', 'no-confusing-non-null-assertion'],
      'no-generated-empty-object-type',
      ...['no-misused-promises', 'no-confusing-void-expression', 'require-await', 'only-throw-error'],
      ...['prefer-promise-reject-errors', 'switch-exhaustiveness-check', 'no-unnecessary-condition', 'no-deprecated'],
      // One way of writing each thing.
      ...['no-mixed-enums', 'no-namespace', 'no-require-imports', 'prefer-literal-enum-member'],
      ...['related-getter-setter-pairs', 'restrict-plus-operands', 'prefer-includes', 'prefer-nullish-coalescing'],
      ...['prefer-optional-chain', 'non-nullable-type-assertion-style', 'prefer-reduce-type-parameter'],
      ...['prefer-return-this-type', 'unified-signatures', 'adjacent-overload-signatures', 'array-type'],
      ...['ban-tslint-comment', 'class-literal-property-style', 'consistent-generic-constructors'],
      ...['consistent-indexed-object-style', 'consistent-type-assertions', 'dot-notation', 'no-inferrable-types'],
      ...['prefer-find', 'prefer-for-of', 'prefer-function-type', 'prefer-regexp-exec'],
      ...['prefer-string-starts-ends-with'],
    ]),
    // Most of what it finds are lists of words.
    'typescript/require-array-sort-compare': 'off',
    eqeqeq: ['error', 'always', { null: 'ignore' }],
    'no-unused-vars': ['error', { ignoreRestSiblings: true, argsIgnorePattern: '^_' }],
    'typescript/restrict-template-expressions': ['error', { allowNumber: true }],
    'typescript/return-await': ['error', 'error-handling-correctness-only'],
  },
  overrides: [
    {
      // Processes read their environment once; everything else is handed values.
      files: SERVICE,
      excludeFiles: ['apps/*/src/main.ts', '**/*.test.ts'],
      rules: { 'no-restricted-properties': ['error', { object: 'process', property: 'env' }] },
    },
    {
      // The guard is the one way out (docs/egress.md); dependency-cruiser keeps the other modules of the network from the rest.
      files: SERVICE,
      excludeFiles: [
        'packages/egress/src/**',
        // Dials no address but those of Redis, as its client does.
        'packages/store/src/redis/explain-failure.ts',
        '**/*.test.ts',
      ],
      rules: {
        'no-restricted-imports': [
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
      rules: { 'no-restricted-globals': 'off', 'no-restricted-properties': 'off' },
    },
    {
      files: ['**/*.test.ts'],
      plugins: ['eslint', 'typescript', 'jest'],
      env: { jest: true },
      rules: {
        ...errors('jest/', [
          ...['no-alias-methods', 'no-deprecated-functions', 'no-done-callback', 'no-identical-title'],
          ...['no-interpolation-in-snapshots', 'no-jasmine-globals', 'no-mocks-import', 'no-test-prefixes'],
          ...['no-conditional-expect', 'no-disabled-tests', 'no-export', 'no-focused-tests', 'valid-title'],
          ...['valid-describe-callback', 'valid-expect', 'valid-expect-in-promise', 'no-commented-out-tests'],
          'no-standalone-expect',
        ]),
        'jest/expect-expect': ['error', { assertFunctionNames: ['expect', 'fc.assert'] }],
        'typescript/unbound-method': 'off',
      },
    },
    // The kit's default `onError` is the console of whoever installs it.
    { files: ['packages/receiver/src/receiver-options.ts'], rules: { 'no-console': 'off' } },
    { files: ['scripts/**', 'bench/**', 'chaos/**', 'examples/**', 'apps/cli/**'], rules: { 'no-console': 'off' } },
    {
      // JavaScript has no types to go by, and nothing else that finds what isn't there.
      files: ['**/*.{js,cjs}'],
      env: { node: true },
      rules: {
        ...Object.fromEntries(UNSAFE.map((name) => [`typescript/${name}`, 'off'])),
        'typescript/no-require-imports': 'off',
        ...errors('', ['no-undef', 'no-redeclare']),
      },
    },
  ],
});
