import type { ForgetReport } from '@herald/store/secrets/forget-key-version';
import type { ReencryptProgress, ReencryptReport } from '@herald/store/secrets/reencrypt-secrets';
import { Command } from 'commander';
import { examples, JSON_OPTION, type JsonOption } from '../context/command-deps.ts';
import { describeForget, describeReencrypt, type Told } from './describe-secrets.ts';
import type { Output } from '../output/create-output.ts';
import type { StartProgress } from '../context/start-progress.ts';

/** What `herald secrets` does; each call connects, and closes what it opened. */
export type SecretsOperations = {
  readonly reencrypt: (onProgress: (progress: ReencryptProgress) => void) => Promise<ReencryptReport>;
  readonly forget: (fingerprint: string) => Promise<ForgetReport>;
};

export type SecretsCommandDeps = {
  readonly operations: SecretsOperations;
  readonly output: Output;
  readonly startProgress: StartProgress;
};

/** `herald secrets`: the keys that signing secrets are encrypted with. */
export function createSecretsCommand({ operations, output, startProgress }: SecretsCommandDeps): Command {
  const tell = ({ lines, problems }: Told, report: object, json: boolean | undefined) => {
    if (json) output.json(report);
    else for (const line of lines) output.line(line);
    for (const problem of problems) output.problem(problem);
  };
  const secrets = new Command('secrets').description('the keys that signing secrets are encrypted with');
  secrets
    .command('reencrypt')
    .alias('reseal')
    .description('encrypt every secret with the first key of SECRETS_KEY, while the service runs')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('SECRETS_KEY=<new>,<old> herald secrets reencrypt'))
    .action(async ({ json }: JsonOption) => {
      const progress = startProgress('round {round} {bar} {percentage}% of about {total} keys');
      const show = ({ round, looked, total }: ReencryptProgress) => {
        progress.show(looked, total, { round });
      };
      const report = await operations.reencrypt(show).finally(progress.stop);
      tell(describeReencrypt(report), report, json);
    });
  secrets
    .command('forget <fingerprint>')
    .description('let processes start without a key that is lost; what it encrypted stays unreadable')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('SECRETS_KEY=<new> herald secrets forget 0a1b2c3d'))
    .action(async (fingerprint: string, { json }: JsonOption) => {
      const report = await operations.forget(fingerprint);
      tell(describeForget(fingerprint, report), report, json);
    });
  return secrets;
}
