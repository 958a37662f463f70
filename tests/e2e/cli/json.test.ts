import { createKeyspace } from '@herald/store/keys/keys';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { bodyOf } from '../../support/http-request.ts';
import { runCli } from '../../support/run-cli.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { startHistory, type History } from '../../support/start-history.ts';

/** Every command, as the reference lists them. */
const COMMANDS = [
  ...readFileSync(join(import.meta.dirname, '../../../docs/cli.md'), 'utf8').matchAll(/^\| \[`([^`]+)`\]/gm),
].map(([, name = '']) => name);

interface Scene {
  workspaceId: string;
  receiver: string;
  other: string;
  delivery: string;
  replay: string;
  link: string;
  key: string;
  keyId: string;
}

/** How each is called so that it prints as much as it can; `input` is its standard input. */
const CALLS: Readonly<Record<string, (scene: Scene) => { args?: readonly string[]; input?: string }>> = {
  doctor: () => ({}),
  queues: () => ({}),
  'receivers list': () => ({ args: ['--urls'] }),
  'receivers test': ({ receiver }) => ({ args: [receiver] }),
  'receivers pause': ({ other }) => ({ args: [other] }),
  'receivers resume': ({ other }) => ({ args: [other] }),
  'receivers disable': ({ other }) => ({ args: [other] }),
  'receivers enable': ({ other }) => ({ args: [other] }),
  'deliveries list': ({ workspaceId }) => ({ args: ['--workspace', workspaceId] }),
  'deliveries show': ({ delivery }) => ({ args: [delivery, '--request'] }),
  'deliveries redeliver': ({ delivery }) => ({ args: [delivery] }),
  'deliveries cancel': ({ workspaceId }) => ({ args: ['--workspace', workspaceId] }),
  'deliveries purge': ({ workspaceId }) => ({ args: ['--workspace', workspaceId] }),
  'replay start': ({ receiver }) => ({ args: [receiver, '--since', '1h', '--no-wait'] }),
  'replay show': ({ replay }) => ({ args: [replay] }),
  'replay stop': ({ replay }) => ({ args: [replay] }),
  'keys create': () => ({ args: ['--executor'] }),
  'keys list': () => ({}),
  'keys find': ({ key }) => ({ input: key }),
  'links list': () => ({}),
  'links revoke': ({ link }) => ({ args: [link] }),
  'keys revoke': ({ keyId }) => ({ args: [keyId] }),
  audit: () => ({}),
  'accounts mend': () => ({}),
  'shards reshard': () => ({ args: ['--to', '1'] }),
  'secrets reencrypt': () => ({}),
  'secrets forget': () => ({ args: ['0a1b2c3d'] }),
  'history migrate': () => ({}),
  'history adopt': () => ({}),
  'history retention': () => ({ args: ['--yes'] }),
  'history status': () => ({}),
  'history forget': () => ({}),
};

/** Maps whose names are not ours: headers of HTTP. */
const MAPS = new Set(['headers']);
const TIMES = /(At|Until|Since)$|^(at|since|until)$/;
const WORDS_FOR_NOTHING = /^(never|-|\(.*\))$/;

/** What a document has that the contract in docs/cli.md doesn't allow, with the place of each. */
function findBreaches(value: unknown, place = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((each, index) => findBreaches(each, `${place}[${index}]`));
  if (typeof value === 'string') return WORDS_FOR_NOTHING.test(value) ? [`${place} is ${value}`] : [];
  if (typeof value !== 'object' || value === null) return [];
  const parent = place.split('.').at(-1) ?? '';
  return Object.entries(value).flatMap(([name, each]: [string, unknown]) => {
    const at = `${place}.${name}`;
    const isOurs = !MAPS.has(parent) && !/^[a-z][a-zA-Z0-9]*$/.test(name);
    const isTime = each === null || (typeof each === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(each));
    return [
      ...(isOurs ? [`${at} is not camelCase`] : []),
      ...(TIMES.test(name) && !isTime ? [`${at} is no ISO time: ${JSON.stringify(each)}`] : []),
      ...findBreaches(each, at),
    ];
  });
}

let history: History;
let herald: Herald;
let scene: Scene;
const SECRETS_KEY = randomBytes(32).toString('base64');
const env = () => ({ SECRETS_KEY, HISTORY_URL: history.postgres.url, RETRY_SCHEDULE: '1h' });
const run = (args: readonly string[], input = '') => runCli(args, { ...herald.topology.env, ...env() }, { input });

beforeAll(async () => {
  history = await startHistory();
  herald = await startHerald({ env: env() });
  const workspace = await herald.createWorkspace();
  const target = await herald.startReceiver([503]);
  const receiver = await workspace.registerReceiver({ url: target.url });
  const deliveries = createDeliveryClient(workspace);
  const delivery = (await deliveries.emit()).to(receiver);
  await deliveries.waitForAttempts(delivery, 1);
  const other = await workspace.registerReceiver({ url: target.url });
  const link = await workspace.request('POST', '/api/public/portal-links', { body: {} });
  const { stdout } = await run(['keys', 'create', '--workspace', workspace.id, '--json']);
  const { key, id: keyId } = JSON.parse(stdout) as { key: string; id: string };
  const replay = await run(['replay', receiver.id, '--since', '1h', '--no-wait', '--json']);
  // As if a delivery waited to be moved, for as long as the commands run.
  await herald.redis.zadd(createKeyspace(1).shards[0]?.settled ?? '', Date.now() + 3_600_000, `dlv_${'a'.repeat(32)}`);
  scene = {
    workspaceId: workspace.id,
    receiver: receiver.id,
    other: other.id,
    delivery,
    replay: (JSON.parse(replay.stdout) as { id: string }).id,
    link: (bodyOf(link, 201) as { id: string }).id,
    key,
    keyId,
  };
}, 60_000);
afterAll(async () => {
  await herald[Symbol.asyncDispose]();
  await history[Symbol.asyncDispose]();
});

test('every command of the reference is called below, and no other', () => {
  expect(Object.keys(CALLS).sort()).toEqual([...COMMANDS].sort());
});

test.each(Object.keys(CALLS))(
  'herald %s --json prints one document, camelCase, with ISO times, null for nothing',
  async (name) => {
    const { args = [], input } = CALLS[name]?.(scene) ?? {};
    const { stdout } = await run([...name.split(' '), ...args, '--json'], input);
    const document: unknown = JSON.parse(stdout);
    expect(document).not.toEqual([]);
    expect(findBreaches(document)).toEqual([]);
  },
);

test('the look at documents sees what it looks for', () => {
  const document = { 'last used': 'never', list: [{ at: 1, workspace: '(executor)' }], headers: { 'x-a': '-' } };
  expect(findBreaches(document)).toEqual([
    '.last used is not camelCase',
    '.last used is never',
    '.list[0].at is no ISO time: 1',
    '.list[0].workspace is (executor)',
    '.headers.x-a is -',
  ]);
});
