import type { ForgetReport, ResealProgress, ResealReport } from '@herald/infra';
import { Command } from 'commander';
import { describeForget, describeReseal, type Told } from './describe-secrets.ts';

/** What `herald secrets` does; each call connects, and closes what it opened. */
export type SecretsOperations = {
  readonly reseal: (onProgress: (progress: ResealProgress) => void) => Promise<ResealReport>;
  readonly forget: (fingerprint: string) => Promise<ForgetReport>;
};

export type SecretsCommandDeps = {
  readonly operations: SecretsOperations;
  /** Shows how far a long run is; where that isn't a terminal, nothing. */
  readonly startProgress: () => { readonly show: (progress: ResealProgress) => void; readonly stop: () => void };
  readonly print: (line: string) => void;
  /** A problem: a line on stderr, and exit code 1. */
  readonly complain: (line: string) => void;
};

/** `herald secrets`: the keys that signing secrets are sealed with. */
export function createSecretsCommand({ operations, startProgress, print, complain }: SecretsCommandDeps): Command {
  const tell = ({ lines, problems }: Told, report: object, json: boolean | undefined) => {
    if (json) print(JSON.stringify(report, undefined, 2));
    else for (const line of lines) print(line);
    for (const problem of problems) complain(problem);
  };
  const secrets = new Command('secrets').description('the keys that signing secrets are sealed with');
  secrets
    .command('reseal')
    .description('move every secret to the first key of SECRETS_KEY, while the service runs')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: true }) => {
      const progress = startProgress();
      const report = await operations.reseal(progress.show).finally(progress.stop);
      tell(describeReseal(report), report, json);
    });
  secrets
    .command('forget <fingerprint>')
    .description('let processes start without a key that is lost; what it sealed stays unreadable')
    .option('--json', 'print JSON')
    .action(async (fingerprint: string, { json }: { json?: true }) => {
      const report = await operations.forget(fingerprint);
      tell(describeForget(fingerprint, report), report, json);
    });
  return secrets;
}
