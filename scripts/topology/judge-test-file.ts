/** The result of a test file; the details name the tests that didn't pass, and why. */
export type FileVerdict = {
  readonly kind: 'passed' | 'needs one server' | 'failed';
  readonly details: readonly string[];
};

/** The part of Jest's report that is used. */
type Report = {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
};

/** The error of a test that needs a single server. */
const NEEDS_ONE_SERVER = 'this test needs one Redis server';

/** Judges Jest's JSON report of one file. Undefined: the file didn't end in time, or crashed. */
export function judgeTestFile(report: string | undefined): FileVerdict {
  if (report === undefined) return { kind: 'failed', details: ['no report: it did not end in time, or crashed'] };
  const { testResults } = JSON.parse(report) as Report;
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const broken = tests.filter(({ status }) => status === 'failed');
  const needy = broken.filter(({ failureMessages }) => failureMessages.some((text) => text.includes(NEEDS_ONE_SERVER)));
  const failed = broken.filter((test) => !needy.includes(test));
  if (tests.length === 0) {
    return { kind: 'failed', details: testResults.map(({ message }) => firstLineOf(message)) };
  }
  const details = [
    ...(needy.length > 0 ? [`${needy.length} of ${tests.length} tests need one server`] : []),
    ...failed.flatMap(({ fullName, failureMessages }) => [
      `failed: ${fullName}`,
      `  ${firstLineOf(failureMessages[0])}`,
    ]),
  ];
  if (failed.length > 0) return { kind: 'failed', details };
  return { kind: needy.length > 0 ? 'needs one server' : 'passed', details };
}

function firstLineOf(text = ''): string {
  return text.trim().split('\n', 1)[0]?.slice(0, 300) ?? '';
}
