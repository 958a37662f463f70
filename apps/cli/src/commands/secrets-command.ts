import { SecretsEnv } from '@herald/config/shared-env';
import { readEnv } from '@herald/runtime/env';
import { countOf } from '@herald/runtime/text';
import { createKeyVersionStore } from '@herald/store/secrets/key-version-store';
import {
  createEncryptedSecretStore,
  forgetKeyVersion,
  type ForgetReport,
  type ReencryptProgress,
  type ReencryptReport,
  reencryptSecrets,
} from '@herald/store/secrets/reencrypt-secrets';
import { createSecretCipher } from '@herald/store/secrets/secret-cipher';
import { Command } from 'commander';
import { type CommandDeps, examples, type JsonOption } from '../context/command-deps.ts';
import type { Herald } from '../context/open-herald.ts';

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

/** Lines for stdout, and problems for stderr. Any problem makes the exit code 1. */
type Told = { readonly lines: readonly string[]; readonly problems: readonly string[] };

/** A sentence names at most so many ids; --json has all. */
const NAMED = 20;

const ROTATE = 'or rotate their secrets with "overlapSeconds": 0 and give their headers again';

export function describeReencrypt({ key, moved, inPlace, forgotten, inUse, unopenable }: ReencryptReport): Told {
  const secretsAre = `${countOf(inPlace, 'secret')} ${inPlace === 1 ? 'is' : 'are'}`;
  const lines = [
    moved > 0
      ? `Re-encrypted ${countOf(moved, 'secret')} with the key ${key}; now ${secretsAre} encrypted with it.`
      : `Nothing to re-encrypt: ${secretsAre} encrypted with the key ${key}.`,
    ...forgotten.map((old) => `No secret is left under the key ${old}: drop it from SECRETS_KEY everywhere.`),
  ];
  const byKey = Map.groupBy(unopenable, ({ key: old }) => old);
  const problems = [
    ...[...byKey].map(
      ([old, secrets]) =>
        `This SECRETS_KEY doesn't decrypt the secrets of ${listOf(secrets.map(({ endpointId }) => endpointId))}. ` +
        `They name the key ${old}: put it behind the first and run this again, ${ROTATE}.`,
    ),
    ...inUse.map(
      (old) =>
        `Something still encrypts with the key ${old}. Make ${key} the first of SECRETS_KEY in every API, restart them, ` +
        'and run this again.',
    ),
  ];
  return { lines, problems };
}

export function describeForget(fingerprint: string, { kind, endpointIds }: ForgetReport): Told {
  const refuse = (problem: string): Told => ({ lines: [], problems: [problem] });
  switch (kind) {
    case 'unknown':
      return refuse(`No secret of this Redis is encrypted with a key ${fingerprint}.`);
    case 'listed':
      return refuse(
        `SECRETS_KEY lists the key ${fingerprint}, so it isn't lost: "herald secrets reencrypt" retires it.`,
      );
    case 'in_use':
      return refuse(`Something still encrypts with the key ${fingerprint}: stop that API first.`);
    case 'forgotten': {
      const forgotten = `Forgot the key ${fingerprint}: processes start without it.`;
      const consequence =
        `Nothing is delivered to ${listOf(endpointIds)}, whose secrets are encrypted with it, until those are rotated ` +
        'with "overlapSeconds": 0 and their headers are given again, or the key is back in SECRETS_KEY.';
      return { lines: endpointIds.length === 0 ? [forgotten] : [forgotten, consequence], problems: [] };
    }
  }
}

function listOf(endpointIds: readonly string[]): string {
  const ids = [...new Set(endpointIds)];
  const named = ids.slice(0, NAMED).join(', ');
  return ids.length > NAMED ? `${named} and ${ids.length - NAMED} more (--json lists all)` : named;
}
