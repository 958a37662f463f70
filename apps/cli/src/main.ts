import { closeRedis, ConfigError, connectRedis, createApiKeyStore, RedisUnreachableError } from '@herald/infra';
import { Command } from 'commander';
import { readCliConfig } from './config.ts';
import { createKeysCommand, type WithKeys } from './keys-command.ts';

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

try {
  await new Command('herald')
    .description('Operate Herald: signed webhooks for Task transitions.')
    .addCommand(createKeysCommand(withKeys, print, Date.now))
    .showHelpAfterError('(--help shows what there is)')
    .parseAsync();
} catch (error) {
  if (!(error instanceof ConfigError || error instanceof RedisUnreachableError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
