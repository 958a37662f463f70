import { findExecutable } from '@herald/test-kit';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const FOLDER = join(import.meta.dirname, '../ops/prometheus');
const read = (file: string) => parse(readFileSync(join(FOLDER, file), 'utf8')) as unknown;

test('every alert is fired by a state that the tests of alerts know', () => {
  const { groups } = read('alerts.yml') as { groups: { rules: { alert: string }[] }[] };
  const tested = JSON.stringify(read('alerts.test.yml'));
  const untested = groups
    .flatMap(({ rules }) => rules.map(({ alert }) => alert))
    .filter((name) => !tested.includes(name));
  expect(untested).toEqual([]);
});

const promtool = findExecutable('promtool');
const describeWithPromtool = promtool === undefined ? describe.skip : describe;

describeWithPromtool("with promtool, of Debian's package prometheus", () => {
  test('in each of these states the alerts fire that should, and no others', () => {
    const test = ['test', 'rules', 'alerts.test.yml'];
    expect(execFileSync(promtool ?? '', test, { cwd: FOLDER, encoding: 'utf8' })).toContain('SUCCESS');
  });
});
