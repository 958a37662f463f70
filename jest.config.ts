import type { Config } from 'jest';
import { findPace } from './tests/runner/pace.ts';

/** Each file's tests run in the process itself, with Node's own modules: `tests/runner/run-file.ts`. */
const shared = {
  testRunner: '<rootDir>/tests/runner/run-file.ts',
  testEnvironment: '<rootDir>/tests/runner/bare-environment.ts',
  transform: {},
} satisfies Config;

/** Tests of the built processes. */
const onProcesses = { ...shared, globalSetup: '<rootDir>/tests/made-once.js' } satisfies Config;

/** What is too long for a commit. */
const soak = { ...onProcesses, displayName: 'soak', testMatch: ['<rootDir>/tests/soak/**/*.test.ts'] } satisfies Config;

export default {
  testTimeout: 30_000,
  maxWorkers: findPace().files,
  // A process keeps a part of each file that it has run, up to 1.1 GB, and goes through all of it to collect garbage.
  workerIdleMemoryLimit: '500MB',
  testSequencer: '<rootDir>/tests/file-order.js',
  reporters: ['default', '<rootDir>/tests/plain-reporter.ts'],
  projects: [
    {
      ...shared,
      displayName: 'unit',
      testMatch: [
        '<rootDir>/{packages,apps}/*/src/**/*.test.ts',
        '<rootDir>/scripts/**/*.test.ts',
        '<rootDir>/chaos/**/*.test.ts',
        '<rootDir>/bench/**/*.test.ts',
      ],
    },
    { ...shared, displayName: 'integration', testMatch: ['<rootDir>/tests/integration/**/*.test.ts'] },
    { ...onProcesses, displayName: 'e2e', testMatch: ['<rootDir>/tests/e2e/**/*.test.ts'] },
    ...(process.env.HERALD_SOAK === '1' ? [soak] : []),
  ],
} satisfies Config;
