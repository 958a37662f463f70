import { READINESS_CODES } from '@herald/core';
import { findExecutable } from '@herald/test-kit';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const FOLDER = join(import.meta.dirname, '../ops/prometheus');
const read = (file: string) => parse(readFileSync(join(FOLDER, file), 'utf8')) as unknown;

/** The codes of `judge-work.ts` beside those of `/readyz`. That somebody has paused a queue he knows. */
const OF_WORK = ['queue_stuck', 'queue_behind', 'breaker_open', 'deliveries_failed'];

test('every alert is fired by a state that the tests of alerts know', () => {
  const { groups } = read('alerts.yml') as { groups: { rules: { alert: string }[] }[] };
  const tested = JSON.stringify(read('alerts.test.yml'));
  const untested = groups
    .flatMap(({ rules }) => rules.map(({ alert }) => alert))
    .filter((name) => !tested.includes(name));
  expect(untested).toEqual([]);
});

test('findings have the names that other surfaces give them, and each is told by exactly one kind of alert', () => {
  const { groups } = read('alerts.yml') as {
    groups: { rules: { alert: string; expr: string; annotations: { finding?: string } }[] }[];
  };
  const rules = groups.flatMap((group) => group.rules);
  const named = rules.flatMap(({ annotations }) => annotations.finding?.split(', ') ?? []);
  const known = [...Object.keys(READINESS_CODES), ...OF_WORK];
  const byCode = '{{ $labels.code }}';
  expect(named.filter((code) => code !== byCode && !known.includes(code))).toEqual([]);
  const generic = rules.filter(({ annotations }) => annotations.finding === byCode);
  expect(generic.map(({ alert }) => alert)).toEqual(['HeraldFindingError', 'HeraldFindingWarning']);
  for (const { expr } of generic) {
    const excluded = /code!~"([^"]+)"/.exec(expr)?.[1]?.split('|') ?? [];
    const own = new Set(named.filter((code) => code in READINESS_CODES));
    // It passes within seconds.
    expect(excluded.sort()).toEqual([...own, 'shards_unsure'].sort());
  }
});

/** What one customer can do alone, with receivers that answer badly or late, or with requests past his limit. */
const OF_ONE_CUSTOMER = [
  'HeraldRequestsLimited',
  'HeraldReceiverAge',
  'HeraldFailureRatio',
  'HeraldDeliveriesFailed',
  'HeraldArrivesLate',
  'HeraldReceiversDisabled',
  'HeraldBreakersOpen',
];

test('no customer wakes an operator alone', () => {
  const { groups } = read('alerts.yml') as { groups: { rules: { alert: string; labels: { severity: string } }[] }[] };
  const rules = groups.flatMap((group) => group.rules).filter(({ alert }) => OF_ONE_CUSTOMER.includes(alert));
  expect(rules.map(({ alert }) => alert)).toEqual(OF_ONE_CUSTOMER);
  expect(new Set(rules.map(({ labels }) => labels.severity))).toEqual(new Set(['warn']));
});

const promtool = findExecutable('promtool');
const describeWithPromtool = promtool === undefined ? describe.skip : describe;

describeWithPromtool("with promtool, of Debian's package prometheus", () => {
  test('in each of these states the alerts fire that should, and no others', () => {
    const test = ['test', 'rules', 'alerts.test.yml'];
    expect(execFileSync(promtool ?? '', test, { cwd: FOLDER, encoding: 'utf8' })).toContain('SUCCESS');
  });
});
