import { judgeAudit } from './judge-audit.ts';

const report = (vulnerabilities: object) => JSON.stringify({ auditReportVersion: 2, vulnerabilities });

test.each([
  ['no advisory passes', report({}), { kind: 'answered', failures: [], tolerated: 0 }],
  [
    'a high and a critical one fail, a moderate one is counted',
    report({ a: { severity: 'high' }, b: { severity: 'critical' }, c: { severity: 'moderate' } }),
    { kind: 'answered', failures: ['a: high', 'b: critical'], tolerated: 1 },
  ],
  [
    'a registry without the end point gives no verdict, and says so',
    JSON.stringify({ message: '405 Method Not Allowed', statusCode: 405 }),
    { kind: 'unanswered', reason: '405 Method Not Allowed' },
  ],
  ['no answer at all gives no verdict', '', { kind: 'unanswered', reason: 'no report' }],
])('%s', (_, text, verdict) => {
  expect(judgeAudit(text)).toEqual(verdict);
});
