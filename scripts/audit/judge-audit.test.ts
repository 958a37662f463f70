import { findDeprecated, judgeAudit } from './judge-audit.ts';

const report = (vulnerabilities: object) =>
  JSON.stringify({ auditReportVersion: 2, vulnerabilities, metadata: { dependencies: { total: 700 } } });

test.each([
  ['no advisory is clean', report({}), { kind: 'clean', packages: 700 }],
  [
    'every advisory is a finding, whatever its severity',
    report({ a: { severity: 'low' }, b: { severity: 'critical' }, c: {} }),
    { kind: 'found', findings: ['a: low', 'b: critical', 'c: unknown'] },
  ],
  [
    'a registry without the end point skips it',
    JSON.stringify({ message: '405 Method Not Allowed', statusCode: 405 }),
    { kind: 'skipped', reason: '405 Method Not Allowed' },
  ],
  [
    'a registry that is not there skips it',
    JSON.stringify({ message: 'connect ECONNREFUSED 127.0.0.1:9', error: { summary: '', detail: '' } }),
    { kind: 'skipped', reason: 'connect ECONNREFUSED 127.0.0.1:9' },
  ],
  [
    'an error of npm is none of the registry',
    JSON.stringify({ error: { code: 'ENOLOCK', summary: 'This command requires an existing lockfile.' } }),
    { kind: 'broken', reason: 'This command requires an existing lockfile.' },
  ],
  ['no report at all is an error', '', { kind: 'broken', reason: 'no report' }],
])('%s', (_, text, verdict) => {
  expect(judgeAudit(text)).toEqual(verdict);
});

test('a package that its author has given up is named with what the author says', () => {
  const packages = {
    '': { name: 'herald' },
    'node_modules/a': { version: '1.0.0' },
    'node_modules/a/node_modules/@b/c': { version: '2.0.0', deprecated: 'Use d.' },
  };
  expect(findDeprecated(JSON.stringify({ packages }))).toEqual(['@b/c: Use d.']);
  expect(() => findDeprecated('{}')).toThrow('the lock file has no packages');
});
