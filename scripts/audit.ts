import { spawnSync } from 'node:child_process';
import { judgeAudit } from './audit/judge-audit.ts';

const LIMIT_MS = 60_000;

// Part of `npm run verify`. The advisories are the registry's: without its answer there is nothing to judge.
const { stdout, error } = spawnSync('npm', ['audit', '--json', '--fetch-retries=0', '--fetch-timeout=20000'], {
  encoding: 'utf8',
  timeout: LIMIT_MS,
});
const verdict = error ? ({ kind: 'unanswered', reason: error.message } as const) : judgeAudit(stdout);
if (verdict.kind === 'unanswered') {
  console.error(`npm audit: the registry gave no answer (${verdict.reason}); nothing was judged`);
} else {
  for (const failure of verdict.failures) console.error(`npm audit: ${failure}`);
  if (verdict.tolerated > 0) console.error(`npm audit: ${verdict.tolerated} of lower severity; see npm audit`);
  if (verdict.failures.length > 0) process.exitCode = 1;
}
