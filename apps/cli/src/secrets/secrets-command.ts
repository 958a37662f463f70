import type { ForgetReport } from '@herald/store/secrets/forget-generation';
import type { ResealProgress, ResealReport } from '@herald/store/secrets/reseal-secrets';
import { Command } from 'commander';
import { examples, JSON_OPTION, type JsonOption } from '../context/command-deps.ts';
import { describeForget, describeReseal, type Told } from './describe-secrets.ts';
import type { Output } from '../output/create-output.ts';
import type { StartProgress } from '../context/start-progress.ts';

/** What `herald secrets` does; each call connects, and closes what it opened. */
export type SecretsOperations = {
  readonly reseal: (onProgress: (progress: ResealProgress) => void) => Promise<ResealReport>;
  readonly forget: (fingerprint: string) => Promise<ForgetReport>;
};

export type SecretsCommandDeps = {
  readonly operations: SecretsOperations;
  readonly output: Output;
  readonly startProgress: StartProgress;
};

/** `herald secrets`: the keys that signing secrets are sealed with. */
export function createSecretsCommand({ operations, output, startProgress }: SecretsCommandDeps): Command {
  const tell = ({ lines, problems }: Told, report: object, json: boolean | undefined) => {
    if (json) output.json(report);
    else for (const line of lines) output.line(line);
    for (const problem of problems) output.problem(problem);
  };
  const secrets = new Command('secrets').description('the keys that signing secrets are sealed with');
  secrets
    .command('reseal')
    .description('move every secret to the first key of SECRETS_KEY, while the service runs')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('SECRETS_KEY=<new>,<old> herald secrets reseal'))
    .action(async ({ json }: JsonOption) => {
      const progress = startProgress('round {round} {bar} {percentage}% of about {total} keys');
      const show = ({ round, looked, total }: ResealProgress) => {
        progress.show(looked, total, { round });
      };
      const report = await operations.reseal(show).finally(progress.stop);
      tell(describeReseal(report), report, json);
    });
  secrets
    .command('forget <fingerprint>')
    .description('let processes start without a key that is lost; what it sealed stays unreadable')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('SECRETS_KEY=<new> herald secrets forget 0a1b2c3d'))
    .action(async (fingerprint: string, { json }: JsonOption) => {
      const report = await operations.forget(fingerprint);
      tell(describeForget(fingerprint, report), report, json);
    });
  return secrets;
}
