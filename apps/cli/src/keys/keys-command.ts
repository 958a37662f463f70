import { readDuration } from '@herald/core';
import { createApiKeyStore, type ApiKey, type ApiKeyStore, type Scope } from '@herald/store/api-keys/api-key-store';
import { Command, InvalidArgumentError, Option } from 'commander';
import { examples, JSON_OPTION, type CommandDeps, type JsonOption } from '../context/command-deps.ts';
import type { Cell } from '../output/cell.ts';
import { readListOf, readWorkspace } from '../context/read-arguments.ts';

type CreateOptions = JsonOption & { workspace?: string; scopes?: Scope[]; executor?: true; expiresIn?: number };

const WORKSPACE_SCOPES = ['webhooks', 'tasks'] as const satisfies readonly Scope[];

/** `herald keys`: API keys are made and revoked here, and nowhere else. */
export function createKeysCommand({ withHerald, output, now }: CommandDeps): Command {
  const withKeys = (use: (keys: ApiKeyStore) => Promise<void>) =>
    withHerald((herald) => use(createApiKeyStore(herald)), { anyShards: true });
  const keys = new Command('keys').description('make, list and revoke API keys');
  keys
    .command('create')
    .description('print one new key; it is shown this once')
    .option('--workspace <id>', 'controller workspace that the key belongs to', readWorkspace)
    .option('--scopes <list>', `comma-separated: ${WORKSPACE_SCOPES.join(', ')}`, readListOf(WORKSPACE_SCOPES))
    .addOption(
      new Option('--executor', 'a key for executors, which report for every workspace').conflicts([
        'workspace',
        'scopes',
      ]),
    )
    .option('--expires-in <duration>', 'such as 90d; without it the key never expires', readExpiry)
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      examples(
        'herald keys create --workspace ws_x',
        'herald keys create --workspace ws_x --scopes webhooks --expires-in 90d',
        'herald keys create --executor',
      ),
    )
    .action(async ({ workspace, scopes, executor, expiresIn, json }: CreateOptions, command: Command) => {
      if (!executor && workspace === undefined)
        command.error('error: name a --workspace, or ask for an --executor key');
      const expiry = expiresIn === undefined ? {} : { expiresAt: now() + expiresIn };
      await withKeys(async (store) => {
        const { key, record } = await store.create(
          workspace === undefined
            ? { scopes: ['execute'], ...expiry }
            : { workspaceId: workspace, scopes: scopes ?? [...WORKSPACE_SCOPES], ...expiry },
        );
        if (json) output.json({ key, ...toJson(record) });
        else output.line(key);
      });
    });
  keys
    .command('list')
    .description('every key that is valid: never the key itself')
    .option(...JSON_OPTION)
    .action(async ({ json }: JsonOption) => {
      await withKeys(async (store) => {
        const list = await store.list();
        if (json) output.json(list.map(toJson));
        else output.table(COLUMNS, list.map(toRow), 'No keys yet: "herald keys create --workspace ws_x" makes one.');
      });
    });
  keys
    .command('revoke <id>')
    .description('refuse a key from now on; its id is in the list')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('herald keys revoke key_0123456789abcdef'))
    .action(async (id: string, { json }: JsonOption, command: Command) => {
      await withKeys(async (store) => {
        if (!(await store.revoke(id)))
          command.error(`error: there is no key ${id}; herald keys list shows those there are`);
        if (json) output.json({ id, revoked: true });
        else output.line(`revoked ${id}`);
      });
    });
  return keys;
}

function readExpiry(text: string): number {
  const ms = readDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  throw new InvalidArgumentError('must be a duration such as 12h or 90d');
}

/** `expires` and `last used` are times, or the word never. */
function toJson({ id, workspaceId, scopes, createdAt, expiresAt, lastUsedAt }: ApiKey) {
  return {
    id,
    workspace: workspaceId ?? '(executor)',
    scopes: scopes.join(','),
    created: new Date(createdAt).toISOString(),
    expires: expiresAt === undefined ? 'never' : new Date(expiresAt).toISOString(),
    'last used': lastUsedAt === undefined ? 'never' : new Date(lastUsedAt).toISOString(),
  };
}

const COLUMNS = ['id', 'workspace', 'scopes', 'created', 'expires', 'last used'];

function toRow({ id, workspaceId, scopes, createdAt, expiresAt, lastUsedAt }: ApiKey): Cell[] {
  const timeOr = (ms: number | undefined) => (ms === undefined ? 'never' : new Date(ms));
  return [
    ...[id, workspaceId ?? '(executor)', scopes.join(','), new Date(createdAt)],
    ...[timeOr(expiresAt), timeOr(lastUsedAt)],
  ];
}
