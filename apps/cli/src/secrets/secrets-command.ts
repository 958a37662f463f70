import { readEnv } from '@herald/runtime/env/env';
import { SecretsEnv } from '@herald/config/shared-env';
import { createEncryptedSecretStore } from '@herald/store/secrets/encrypted-secret-store';
import { createKeyVersionStore } from '@herald/store/key-versions/key-version-store';
import { createSecretCipher } from '@herald/store/secrets/secret-cipher';
import { forgetKeyVersion } from '@herald/store/secrets/forget-key-version';
import { reencryptSecrets, type ReencryptProgress } from '@herald/store/secrets/reencrypt-secrets';
import { Command } from 'commander';
import { examples, type CommandDeps, type JsonOption } from '../context/command-deps.ts';
import type { Herald } from '../context/open-herald.ts';
import { describeForget, describeReencrypt, type Told } from './describe-secrets.ts';

/** `herald secrets`: the keys that signing secrets are encrypted with. */
export function createSecretsCommand({
  openHerald,
  output,
  recordAct,
  startProgress,
  serviceEnv,
}: CommandDeps): Command {
  const readCipher = () => createSecretCipher(readEnv(SecretsEnv, serviceEnv()).SECRETS_KEY);
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
    .addHelpText('after', examples('SECRETS_KEY=<new>,<old> herald secrets reencrypt'))
    .action(async ({ json }: JsonOption) => {
      const cipher = readCipher();
      await using herald = await openHerald();
      const deps = { ...createStores(herald), cipher };
      const progress = startProgress('round {round} {bar} {percentage}% of about {total} keys');
      const onProgress = ({ round, looked, total }: ReencryptProgress) => {
        progress.show(looked, total, { round });
      };
      const report = await reencryptSecrets({ ...deps, onProgress }).finally(progress.stop);
      if (report.moved > 0 || report.forgotten.length > 0)
        await recordAct(herald, { action: 'reencryptSecrets', target: report.key });
      tell(describeReencrypt(report), report, json);
    });
  secrets
    .command('forget <fingerprint>')
    .description('let processes start without a key that is lost; what it encrypted stays unreadable')
    .addHelpText('after', examples('SECRETS_KEY=<new> herald secrets forget 0a1b2c3d'))
    .action(async (fingerprint: string, { json }: JsonOption) => {
      const cipher = readCipher();
      await using herald = await openHerald();
      const report = await forgetKeyVersion({ ...createStores(herald), cipher }, fingerprint);
      if (report.kind === 'forgotten') await recordAct(herald, { action: 'forgetSecretsKey', target: fingerprint });
      tell(describeForget(fingerprint, report), report, json);
    });
  return secrets;
}

function createStores(herald: Herald) {
  return { keyVersions: createKeyVersionStore(herald), secrets: createEncryptedSecretStore(herald) };
}
