import { findExecutable, findPostgres, startPostgres, startProcess, startRedis } from '@herald/test-kit';
import { join } from 'node:path';

jest.setTimeout(300_000);

const KIT = join(import.meta.dirname, '../../packages/receiver-python');
const python = findExecutable('python3');

/** Why a test of the kit may be skipped: the machine lacks what it needs. */
const OPTIONAL =
  /^(?:not installed: [\w, ]+|REDIS_URL names none, or redis is not installed|POSTGRES_URL names none, or no \w+)$/;

if (python === undefined) {
  test.todo('the tests of the kit for Python, which are not run: python3 is not on the PATH');
} else {
  test('the tests of the kit for Python pass, its stores with Redis and PostgreSQL, its examples on two processes each', async () => {
    await using redis = await startRedis();
    const postgres = findPostgres() === undefined ? undefined : await startPostgres();
    try {
      await using ran = await startProcess({
        name: 'python',
        command: python,
        args: ['-m', 'unittest', 'discover', '-v', '-t', '.', '-s', 'tests'],
        cwd: KIT,
        env: {
          ...(process.env.HOME !== undefined && { HOME: process.env.HOME }),
          ...(process.env.PATH !== undefined && { PATH: process.env.PATH }),
          PYTHONDONTWRITEBYTECODE: '1',
          REDIS_URL: redis.url,
          ...(postgres !== undefined && { POSTGRES_URL: postgres.url }),
        },
      });
      const { code } = await ran.exited;
      const output = ran.output();
      const skipped = [...output.matchAll(/ \.\.\. skipped '(.*)'$/gm)].map(([, reason = '']) => reason);
      const count = Number(/^Ran (\d+) tests/m.exec(output)?.[1] ?? 0);
      expect({ code, odd: skipped.filter((reason) => !OPTIONAL.test(reason)), output }).toMatchObject({
        code: 0,
        odd: [],
      });
      expect(count - skipped.length).toBeGreaterThanOrEqual(50);
      if (skipped.length > 0) {
        process.stderr.write(`the kit for Python, not run: ${[...new Set(skipped)].join('; ')}\n`);
      }
    } finally {
      await postgres?.[Symbol.asyncDispose]();
    }
  });
}
