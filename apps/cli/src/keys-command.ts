import { readDuration, WorkspaceIdText } from '@herald/core';
import { SCOPES, type ApiKey, type ApiKeyStore, type Scope } from '@herald/infra';
import { Command, InvalidArgumentError, Option } from 'commander';

/** Runs an operation on the key store and closes what it opened. */
export type WithKeys = (use: (keys: ApiKeyStore) => Promise<void>) => Promise<void>;

type CreateOptions = { workspace?: string; scopes?: Scope[]; executor?: true; expiresIn?: number };

const WORKSPACE_SCOPES: readonly Scope[] = ['webhooks', 'tasks'];

/** `herald keys`: API keys are made and revoked here, and nowhere else. */
export function createKeysCommand(withKeys: WithKeys, print: (line: string) => void, now: () => number): Command {
  const keys = new Command('keys').description('make, list and revoke API keys');
  keys
    .command('create')
    .description('print one new key; it is shown this once')
    .option('--workspace <id>', 'controller workspace that the key belongs to', readWorkspace)
    .option('--scopes <list>', `comma-separated: ${WORKSPACE_SCOPES.join(', ')}`, readScopes)
    .addOption(
      new Option('--executor', 'a key for executors, which report for every workspace').conflicts([
        'workspace',
        'scopes',
      ]),
    )
    .option('--expires-in <duration>', 'such as 90d; without it the key never expires', readExpiry)
    .action(async ({ workspace, scopes, executor, expiresIn }: CreateOptions, command: Command) => {
      if (!executor && workspace === undefined)
        command.error('error: name a --workspace, or ask for an --executor key');
      const expiry = expiresIn === undefined ? {} : { expiresAt: now() + expiresIn };
      await withKeys(async (store) => {
        const { key } = await store.create(
          workspace === undefined
            ? { scopes: ['execute'], ...expiry }
            : { workspaceId: workspace, scopes: scopes ?? WORKSPACE_SCOPES, ...expiry },
        );
        print(key);
      });
    });
  keys
    .command('list')
    .description('every key that is valid: never the key itself')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: true }) => {
      await withKeys(async (store) => {
        const list = await store.list();
        if (json) print(JSON.stringify(list.map(toRow), undefined, 2));
        else for (const line of toTable(list.map(toRow))) print(line);
      });
    });
  keys
    .command('revoke <id>')
    .description('refuse a key from now on; its id is in the list')
    .action(async (id: string, _options: unknown, command: Command) => {
      await withKeys(async (store) => {
        if (!(await store.revoke(id)))
          command.error(`error: there is no key ${id}; herald keys list shows those there are`);
        print(`revoked ${id}`);
      });
    });
  return keys;
}

function readWorkspace(text: string): string {
  const parsed = WorkspaceIdText.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(parsed.error.issues[0]?.message ?? 'is not a workspace id');
}

function readScopes(text: string): Scope[] {
  const scopes = SCOPES.filter((scope) => WORKSPACE_SCOPES.includes(scope) && text.split(',').includes(scope));
  if (scopes.length === text.split(',').length) return scopes;
  throw new InvalidArgumentError(`must be of ${WORKSPACE_SCOPES.join(', ')}, separated by commas`);
}

function readExpiry(text: string): number {
  const ms = readDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  throw new InvalidArgumentError('must be a duration such as 12h or 90d');
}

function toRow({ id, workspaceId, scopes, createdAt, expiresAt, lastUsedAt }: ApiKey) {
  return {
    id,
    workspace: workspaceId ?? '(executor)',
    scopes: scopes.join(','),
    created: new Date(createdAt).toISOString(),
    expires: expiresAt === undefined ? 'never' : new Date(expiresAt).toISOString(),
    'last used': lastUsedAt === undefined ? 'never' : new Date(lastUsedAt).toISOString(),
  };
}

function toTable(rows: readonly Record<string, string>[]): string[] {
  const [first] = rows;
  if (!first) return ['no keys yet: herald keys create --workspace ws_x makes one'];
  const names = Object.keys(first);
  const lines = [names, ...rows.map((row) => names.map((name) => row[name] ?? ''))];
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
