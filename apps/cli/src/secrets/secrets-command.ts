import { readEnv } from '@herald/runtime/env/env';
import { SecretsEnv } from '@herald/config/shared-env';
import { createEncryptedSecretStore } from '@herald/store/secrets/encrypted-secret-store';
import { createKeyVersionStore } from '@herald/store/key-versions/key-version-store';
import { createSecretCipher } from '@herald/store/secrets/secret-cipher';
import { forgetKeyVersion, type ForgetKeyVersionDeps } from '@herald/store/secrets/forget-key-version';
import {
  reencryptSecrets,
  type ReencryptProgress,
  type ReencryptSecretsDeps,
} from '@herald/store/secrets/reencrypt-secrets';
import { Command } from 'commander';
import { examples, JSON_OPTION, type CommandDeps, type JsonOption } from '../context/command-deps.ts';
import { describeForget, describeReencrypt, type Told } from './describe-secrets.ts';

type SecretsDeps = Omit<ReencryptSecretsDeps, 'onProgress'> & ForgetKeyVersionDeps;

/** `herald secrets`: the keys that signing secrets are encrypted with. */
export function createSecretsCommand({ withHerald, output, startProgress, env }: CommandDeps): Command {
  const withSecrets = async <T>(use: (deps: SecretsDeps) => Promise<T>) => {
    const cipher = createSecretCipher(readEnv(SecretsEnv, env).SECRETS_KEY);
    return await withHerald((herald) =>
      use({ keyVersions: createKeyVersionStore(herald), secrets: createEncryptedSecretStore(herald), cipher }),
    );
  };
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
      const onProgress = ({ round, looked, total }: ReencryptProgress) => {
        progress.show(looked, total, { round });
      };
      const report = await withSecrets((deps) => reencryptSecrets({ ...deps, onProgress })).finally(progress.stop);
      tell(describeReencrypt(report), report, json);
    });
  secrets
    .command('forget <fingerprint>')
    .description('let processes start without a key that is lost; what it encrypted stays unreadable')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('SECRETS_KEY=<new> herald secrets forget 0a1b2c3d'))
    .action(async (fingerprint: string, { json }: JsonOption) => {
      const report = await withSecrets((deps) => forgetKeyVersion(deps, fingerprint));
      tell(describeForget(fingerprint, report), report, json);
    });
  return secrets;
}
