import type { JestEnvironment } from '@jest/environment';
import { ModuleMocker } from 'jest-mock';

/**
 * Jest's test environment for tests that run in the process itself. The ready-made ones give each file a world of its own, in
 * which it loads every module anew: that took most of the suite's processor time. `run-file.ts` runs the tests.
 */
export default class BareEnvironment implements Pick<
  JestEnvironment,
  'global' | 'moduleMocker' | 'fakeTimers' | 'fakeTimersModern' | 'getVmContext' | 'setup' | 'teardown'
> {
  /** What jest would lay around a file's world: only its console is taken from here. */
  readonly global = {} as JestEnvironment['global'];
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly fakeTimers = null;
  readonly fakeTimersModern = null;

  getVmContext(): null {
    return null;
  }

  setup(): Promise<void> {
    return Promise.resolve();
  }

  teardown(): Promise<void> {
    return Promise.resolve();
  }
}
