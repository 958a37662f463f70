import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { findDeprecated, judgeAudit } from './audit/judge-audit.ts';

// `npm run check:audit`, part of `npm run verify`. npm gives up before this limit, and prints the reason.
const LIMIT_MS = 60_000;
const { stdout, error } = spawnSync(
  'npm',
  ['audit', '--json', '--include=dev', '--fetch-retries=0', '--fetch-timeout=20000'],
  { encoding: 'utf8', timeout: LIMIT_MS, maxBuffer: 64 * 1_024 * 1_024 },
);
const verdict = error ? ({ kind: 'broken', reason: error.message } as const) : judgeAudit(stdout);
switch (verdict.kind) {
  case 'skipped':
    console.error(`!!! NPM AUDIT WAS SKIPPED, NO PACKAGE WAS JUDGED: the registry gave no answer (${verdict.reason})`);
    break;
  case 'broken':
    console.error(`npm audit failed: ${verdict.reason}`);
    process.exitCode = 1;
    break;
  case 'found':
    for (const finding of verdict.findings) console.error(`npm audit: ${finding}`);
    console.error(`npm audit: ${verdict.findings.length} packages have advisories; npm audit says which`);
    process.exitCode = 1;
    break;
  case 'clean':
    console.log(`npm audit: the registry knows no advisory for any of ${verdict.packages} packages`);
}

const deprecated = findDeprecated(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));
for (const each of deprecated) console.error(`given up by its author: ${each}`);
if (deprecated.length > 0) process.exitCode = 1;
