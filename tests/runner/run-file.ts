import { createEmptyTestResult, type AssertionResult, type TestResult } from '@jest/test-result';
import type { Circus, Config } from '@jest/types';
import { jestExpect } from '@jest/expect';
import { ModernFakeTimers } from '@jest/fake-timers';
import * as circus from 'jest-circus';
import { formatExecError, formatResultsErrors } from 'jest-message-util';
import { ModuleMocker } from 'jest-mock';
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { patient } from '../../packages/test-kit/src/wait-for.ts';
import { isLeftOut, LEFT_OUT } from './pace.ts';

/** What customers install has no condition for its source. */
const RECEIVER = new URL('../../packages/receiver/src/index.ts', import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@herald/receiver' ? { url: RECEIVER, shortCircuit: true } : next(specifier, context),
});

const mocker = new ModuleMocker(globalThis);
const { test, it, describe, beforeAll, beforeEach, afterAll, afterEach } = circus;
Object.assign(globalThis, { test, it, describe, beforeAll, beforeEach, afterAll, afterEach, expect: jestExpect });
circus.addEventHandler(tellExpect);
circus.addEventHandler(waitPatiently);

/**
 * Jest's test runner: runs one file's tests in this process, with Node's own modules, which the files of a process share.
 * Each file gets a `jest` of its own, and leaves no fake timer and no spy to the next.
 */
export default async function runFile(
  globalConfig: Config.GlobalConfig,
  config: Config.ProjectConfig,
  environment: { global: { console: Console } },
  _runtime: unknown,
  testPath: string,
): Promise<TestResult> {
  if (isLeftOut(config.displayName?.name)) return leaveOut(testPath);
  circus.resetState();
  const state = circus.getState();
  state.testTimeout = patient(globalConfig.testTimeout ?? 5_000);
  state.maxConcurrency = globalConfig.maxConcurrency;
  state.parentProcess = process;
  if (globalConfig.testNamePattern) state.testNamePattern = new RegExp(globalConfig.testNamePattern, 'i');

  const timers = new ModernFakeTimers({ config, global: globalThis });
  const ownConsole = globalThis.console;
  Object.assign(globalThis, { jest: createJest(timers), console: environment.global.console });
  jestExpect.setState({ expand: globalConfig.expand, testPath, suppressedErrors: [] });
  const blame = (error: unknown) => {
    const running = circus.getState().currentlyRunningTest;
    if (running) running.errors.push(error as Circus.Exception);
    else circus.getState().unhandledErrors.push([error as Circus.Exception, undefined]);
  };
  process.on('uncaughtException', blame).on('unhandledRejection', blame);
  try {
    await import(pathToFileURL(testPath).href);
    return toTestResult(await circus.run(), globalConfig, config, testPath);
  } finally {
    process.off('uncaughtException', blame).off('unhandledRejection', blame);
    timers.useRealTimers();
    mocker.restoreAllMocks();
    globalThis.console = ownConsole;
  }
}

/** What tests use of jest's own object. */
function createJest(timers: ModernFakeTimers) {
  return {
    setTimeout: (ms: number) => void (circus.getState().testTimeout = patient(ms)),
    spyOn: mocker.spyOn.bind(mocker),
    restoreAllMocks: mocker.restoreAllMocks.bind(mocker),
    useFakeTimers: timers.useFakeTimers.bind(timers),
    useRealTimers: timers.useRealTimers.bind(timers),
    advanceTimersByTime: timers.advanceTimersByTime.bind(timers),
    advanceTimersByTimeAsync: timers.advanceTimersByTimeAsync.bind(timers),
    advanceTimersToNextTimer: timers.advanceTimersToNextTimer.bind(timers),
    getTimerCount: timers.getTimerCount.bind(timers),
  };
}

/** `expect` knows the test that runs, and a test fails by what `expect` held back. */
function tellExpect(event: Circus.Event): void {
  if (event.name === 'test_start') jestExpect.setState({ currentTestName: namesOf(event.test).join(' ') });
  if (event.name !== 'test_done') return;
  const { numPassingAsserts, suppressedErrors, isExpectingAssertions } = jestExpect.getState();
  event.test.numPassingAsserts = numPassingAsserts;
  event.test.errors.push(...suppressedErrors);
  jestExpect.setState({ suppressedErrors: [] });
  const missing = jestExpect.extractExpectedAssertionsErrors();
  if (!isExpectingAssertions || event.test.errors.length === 0)
    event.test.errors.push(...missing.map(({ error }) => error));
}

/** A limit that a test or a hook has of its own. */
function waitPatiently(event: Circus.Event): void {
  if (event.name !== 'run_start') return;
  const blocks: Circus.DescribeBlock[] = [circus.getState().rootDescribeBlock];
  for (let block = blocks.pop(); block; block = blocks.pop()) {
    for (const each of [...block.hooks, ...block.children])
      if (each.type === 'describeBlock') blocks.push(each);
      else if (each.timeout) each.timeout = patient(each.timeout);
  }
}

function namesOf(test: Circus.TestEntry): string[] {
  const names: string[] = [test.name];
  for (let block = test.parent; block.parent; block = block.parent) names.unshift(block.name);
  return names;
}

/** Counts as one test that was skipped: jest takes a file without tests for a mistake. */
function leaveOut(testFilePath: string): TestResult {
  const one: AssertionResult = {
    ancestorTitles: [],
    title: LEFT_OUT,
    fullName: LEFT_OUT,
    status: 'pending',
    failureDetails: [],
    failureMessages: [],
    numPassingAsserts: 0,
  };
  return {
    ...createEmptyTestResult(),
    skipped: true,
    numPendingTests: 1,
    testFilePath,
    testResults: [one],
  };
}

function toTestResult(
  ran: Circus.RunResult,
  globalConfig: Config.GlobalConfig,
  config: Config.ProjectConfig,
  testPath: string,
): TestResult {
  const testResults = ran.testResults.map(toAssertionResult);
  const count = (status: AssertionResult['status']) => testResults.filter((one) => one.status === status).length;
  const outside = ran.unhandledErrorsDetailed.map((error) => formatExecError(error, config, globalConfig));
  const failures = formatResultsErrors(testResults, config, globalConfig, testPath) ?? '';
  return {
    ...createEmptyTestResult(),
    failureMessage: failures === '' && outside.length === 0 ? null : [failures, ...outside].join('\n\n'),
    numFailingTests: count('failed'),
    numPassingTests: count('passed'),
    numPendingTests: count('pending'),
    numTodoTests: count('todo'),
    ...(outside.length > 0 && { testExecError: { message: '', stack: ran.unhandledErrors.join('\n') } }),
    testFilePath: testPath,
    testResults,
  };
}

function toAssertionResult(one: Circus.TestResult): AssertionResult {
  const [, ...names] = one.testPath; // the first is the file's own block
  return {
    ancestorTitles: names.slice(0, -1),
    title: names.at(-1) ?? '',
    fullName: names.join(' '),
    status: statusOf(one),
    duration: one.duration ?? null,
    ...(one.failing !== undefined && { failing: one.failing }),
    failureDetails: one.errorsDetailed,
    failureMessages: [...one.errors],
    invocations: one.invocations,
    location: one.location ?? null,
    numPassingAsserts: one.numPassingAsserts,
    retryReasons: [...one.retryReasons],
  };
}

function statusOf({ status, errors }: Circus.TestResult): AssertionResult['status'] {
  if (status === 'skip') return 'pending';
  if (status === 'todo') return 'todo';
  return errors.length > 0 ? 'failed' : 'passed';
}
