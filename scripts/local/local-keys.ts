import { launchProcess } from '@herald/test-kit';
import { join } from 'node:path';
import type { LocalFolder } from './local-folder.ts';

export interface LocalKeys {
  apiKey: string;
  executorKey: string;
}

const KINDS = {
  'api-key': {
    args: ['--workspace', 'ws_local', '--scopes', 'webhooks,tasks'],
    probePath: '/api/public/webhooks',
  },
  'executor-key': { args: ['--executor'], probePath: '/api/internal/tasks?status=queued' },
};

export interface KeyMaker {
  root: string;
  env: Readonly<Record<string, string>>;
}

/** The API keys of the folder; missing ones are made. */
export async function keepKeys(folder: LocalFolder, maker: KeyMaker): Promise<LocalKeys> {
  const keep = async (kind: keyof typeof KINDS) => (await folder.read(kind)) ?? (await makeKey(kind, folder, maker));
  return { apiKey: await keep('api-key'), executorKey: await keep('executor-key') };
}

/** Replaces keys that this Redis doesn't know: it may be another one, or emptied, or the keys have expired. */
export async function replaceUnknownKeys(
  keys: LocalKeys,
  apiUrl: string,
  folder: LocalFolder,
  maker: KeyMaker,
): Promise<LocalKeys> {
  const replaceUnknown = async (kind: keyof typeof KINDS, key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    const { status } = await fetch(apiUrl + KINDS[kind].probePath, { headers, signal: AbortSignal.timeout(10_000) });
    return status === 401 ? makeKey(kind, folder, maker) : key;
  };
  return {
    apiKey: await replaceUnknown('api-key', keys.apiKey),
    executorKey: await replaceUnknown('executor-key', keys.executorKey),
  };
}

async function makeKey(kind: keyof typeof KINDS, folder: LocalFolder, { root, env }: KeyMaker): Promise<string> {
  await using cli = await launchProcess({
    name: 'herald',
    command: process.execPath,
    args: [join(root, 'apps/cli/dist/main.js'), 'keys', 'create', ...KINDS[kind].args],
    env,
  });
  const { code } = await cli.exited;
  const [key, ...rest] = cli.stdout.filter((line) => line.trim() !== '');
  if (code !== 0 || key === undefined || rest.length > 0) {
    throw new Error(`herald keys create ${KINDS[kind].args.join(' ')} printed no key\n${code === 0 ? '' : cli.tail()}`);
  }
  await folder.write(kind, key);
  return key.trim();
}
