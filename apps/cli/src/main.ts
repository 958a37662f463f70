import {
  closeRedis,
  ConfigError,
  connectRedis,
  createApiKeyStore,
  isRedisUnavailable,
  RedisUnreachableError,
} from '@herald/infra';
import { Command } from 'commander';
import { readCliConfig, readSecretsConfig } from './config.ts';
import { createSecretsOperations } from './create-secrets-operations.ts';
import { createKeysCommand, type WithKeys } from './keys-command.ts';
import { createSecretsCommand } from './secrets-command.ts';
import { startProgress } from './start-progress.ts';

const withKeys: WithKeys = async (use) => {
  const { redisUrl } = readCliConfig(process.env);
  // A lost connection shows in the command that needed it.
  const redis = await connectRedis({ url: redisUrl, use: 'request', name: 'herald-cli', onError: () => undefined });
  try {
    await use(createApiKeyStore({ redis, now: Date.now }));
  } finally {
    await closeRedis(redis);
  }
};

const print = (line: string) => {
  process.stdout.write(`${line}\n`);
};

const complain = (line: string) => {
  process.stderr.write(`${line}\n`);
  process.exitCode = 1;
};
const operations = createSecretsOperations(() => readSecretsConfig(process.env));

try {
  await new Command('herald')
    .description('Operate Herald: signed webhooks for Task transitions.')
    .addCommand(createKeysCommand(withKeys, print, Date.now))
    .addCommand(createSecretsCommand({ operations, startProgress, print, complain }))
    .showHelpAfterError('(--help shows what there is)')
    .parseAsync();
} catch (error) {
  if (error instanceof ConfigError || error instanceof RedisUnreachableError) complain(error.message);
  else if (isRedisUnavailable(error)) complain('Redis stopped answering. Run this again when it is back.');
  else throw error;
}
