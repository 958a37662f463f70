import { plainText, readDuration } from '@herald/core';
import { type ApiKey, createApiKeyStore, judgeScopes, type Scope } from '@herald/store/access/api-key-store';
import { Command, Option } from 'commander';
import { type CommandDeps, examples, type JsonOption } from '../context/command-deps.ts';
import { type Cell, sayUntold, toDate } from '../context/create-output.ts';
import { argumentReader, listReader, readWorkspace } from '../context/read-arguments.ts';
import { createFindCommand, ownerWithoutWorkspace } from './find-command.ts';

type CreateOptions = JsonOption & {
  workspace?: string;
  scopes?: Scope[];
  executor?: true;
  platform?: true;
  expiresIn?: number;
  name?: string;
};

const WORKSPACE_SCOPES = ['webhooks', 'tasks', 'approvals:any'] as const satisfies readonly Scope[];
/** What a key may do unless it is said. */
const USUAL_SCOPES: readonly Scope[] = ['webhooks', 'tasks'];

/** `herald keys`: makes and revokes API keys. Those of workspaces are also made with a platform key, over HTTP. */
export function createKeysCommand(deps: CommandDeps): Command {
  const { openHerald, output, recordAct, now } = deps;
  const keys = new Command('keys').description('make, list, revoke and find API keys');
  keys
    .command('create')
    .description('print one new key; it is shown this once')
    .option('--workspace <id>', 'controller workspace that the key belongs to', readWorkspace)
    .option(
      '--scopes <list>',
      `comma-separated: ${WORKSPACE_SCOPES.join(', ')}; usually ${USUAL_SCOPES.join(', ')}`,
      listReader(WORKSPACE_SCOPES),
    )
    .addOption(
      new Option('--executor', 'a key for executors, which report for every workspace').conflicts([
        'workspace',
        'scopes',
      ]),
    )
    .addOption(
      new Option(
        '--platform',
        'a key for the platform, which makes keys, links and Tasks of every workspace over HTTP, and erases one',
      ).conflicts(['workspace', 'scopes', 'executor']),
    )
    .option('--name <text>', 'what it is for, such as "billing, staging"; the list shows it', readKeyName)
    .option('--expires-in <duration>', 'such as 90d; without it the key never expires', readExpiry)
    .addHelpText(
      'after',
      examples(
        'herald keys create --workspace ws_x',
        'herald keys create --workspace ws_x --scopes webhooks --expires-in 90d --name "billing, staging"',
        'herald keys create --executor',
        'herald keys create --platform --name "sign-up"',
      ),
    )
    .action(async (options: CreateOptions, command: Command) => {
      const { workspace, scopes, executor, platform, expiresIn, name, json } = options;
      if (!executor && !platform && workspace === undefined)
        command.error('error: name a --workspace, or ask for an --executor or a --platform key');
      const problem = judgeScopes(scopes ?? []);
      if (problem !== undefined) command.error(`error: --scopes ${problem}`);
      await using herald = await openHerald({ anyShards: true });
      const facts = {
        ...(name !== undefined && { name }),
        ...(expiresIn !== undefined && { expiresAt: now() + expiresIn }),
      };
      const { key, record } = await createApiKeyStore(herald).create(
        workspace === undefined
          ? { scopes: [platform ? 'platform' : 'execute'], ...facts }
          : { workspaceId: workspace, scopes: scopes ?? USUAL_SCOPES, ...facts },
      );
      const { id: target, workspaceId } = record;
      await recordAct(herald, { action: 'createKey', target, ...(workspaceId !== undefined && { workspaceId }) });
      if (json) output.json({ key, ...toKeyJson(record) });
      else output.line(key);
    });
  keys
    .command('list')
    .description('every valid key, by its id: never the key itself')
    .action(async ({ json }: JsonOption) => {
      await using herald = await openHerald({ anyShards: true });
      const list = await createApiKeyStore(herald).list();
      if (json) output.json(list.map(toKeyJson));
      else output.table(COLUMNS, list.map(toKeyRow), 'No keys yet: "herald keys create --workspace ws_x" makes one.');
    });
  keys
    .command('revoke <id>')
    .description('refuse a key from now on; its id is in the list')
    .addHelpText('after', examples('herald keys revoke key_0123456789abcdef'))
    .action(async (id: string, { json }: JsonOption, command: Command) => {
      await using herald = await openHerald({ anyShards: true });
      const store = createApiKeyStore(herald);
      const { workspaceId } = (await store.findById(id)) ?? {};
      const told = await store.revoke(id);
      if (!told) return command.error(`error: there is no key ${id}; herald keys list shows those there are`);
      await recordAct(herald, { action: 'revokeKey', target: id, ...(workspaceId !== undefined && { workspaceId }) });
      if (json) output.json({ id, revoked: true });
      else output.line(`revoked ${id}`);
      sayUntold(output, told);
    });
  keys.addCommand(createFindCommand(deps));
  return keys;
}

const readExpiry = argumentReader((text) => {
  const ms = readDuration(text);
  return ms === 0 ? undefined : ms;
}, 'must be a duration such as 12h or 90d');

/** Characters of a name: it is one column of a list. */
const NAME_LIMIT = 64;

const readKeyName = argumentReader((text) => {
  const isPlain = text === plainText(text).trim();
  return isPlain && text.length > 0 && text.length <= NAME_LIMIT ? text : undefined;
}, `must be 1 to ${NAME_LIMIT} characters on one line, without blanks around them`);

function toKeyJson({ id, workspaceId, scopes, createdAt, expiresAt, lastUsedAt, name }: ApiKey) {
  return {
    id,
    /** Null of the keys of executors and platforms. */
    workspaceId,
    scopes,
    name,
    createdAt: new Date(createdAt),
    expiresAt: toDate(expiresAt),
    lastUsedAt: toDate(lastUsedAt),
  };
}

const COLUMNS = ['id', 'workspace', 'scopes', 'created', 'expires', 'last used', 'name'];

function toKeyRow({ id, workspaceId, scopes, createdAt, expiresAt, lastUsedAt, name }: ApiKey): Cell[] {
  const times = [new Date(createdAt), toDate(expiresAt) ?? 'never', toDate(lastUsedAt) ?? 'never'];
  return [id, workspaceId ?? ownerWithoutWorkspace(scopes), scopes.join(','), ...times, name];
}
