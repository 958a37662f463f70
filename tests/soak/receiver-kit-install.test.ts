import { startProcess } from '@herald/test-kit';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compile, installKit, type CustomerFolder } from '../e2e/receiver-kit/install-kit.ts';
import { findNode20 } from '../e2e/receiver-kit/node-20.ts';

jest.setTimeout(120_000);

const node20 = findNode20();
const node = node20 ?? process.execPath;

let folder: CustomerFolder;
beforeAll(async () => {
  folder = await installKit();
});
afterAll(() => folder[Symbol.asyncDispose]());

async function run(args: readonly string[], env: Record<string, string> = {}) {
  await using ran = await startProcess({ name: 'node', command: node, args, cwd: folder.path, env });
  const { code } = await ran.exited;
  return { code, output: ran.output().trim() };
}

const NAMES = [
  'verifyDelivery',
  'sign',
  'createExpressHandler',
  'createFetchHandler',
  'createMemoryStore',
  'createRedisStore',
  'parseEvent',
];

test.each([
  ['import', 'use.mjs', `import * as kit from '@herald/receiver';`],
  ['require', 'use.cjs', `const kit = require('@herald/receiver');`],
])('the packed kit works with %s', async (_how, file, line) => {
  await writeFile(
    join(folder.path, file),
    `${line}\nconsole.log(${JSON.stringify(NAMES)}.map((name) => typeof kit[name]).join());`,
  );
  expect(await run([file])).toEqual({ code: 0, output: Array(NAMES.length).fill('function').join() });
});

const USE = `import { createExpressHandler, parseEvent, type HeraldEvent, type ReceiverRefusal } from '@herald/receiver';
const event: HeraldEvent = parseEvent('{}');
export const title: string = event.event === 'task.requires_action' ? event.approval_request.title : event.id;
export const reasonOf = ({ reason }: ReceiverRefusal): string => reason;
export const handler = createExpressHandler;
`;
const MISUSE = `${USE}export const wrong: number = event.id;\n`;

test.each([
  ['node16', ['--module', 'node16', '--moduleResolution', 'node16'], ['cts', 'mts']],
  ['node', ['--module', 'commonjs', '--moduleResolution', 'node'], ['ts']],
])('TypeScript 4.9 with moduleResolution %s knows its types, and finds a wrong use', async (name, options, endings) => {
  for (const ending of endings) {
    await writeFile(join(folder.path, `${name}.${ending}`), USE);
    await writeFile(join(folder.path, `${name}-wrong.${ending}`), MISUSE);
  }
  const noEmit = [...options, '--noEmit'];
  expect(await compile(folder.path, noEmit, ...endings.map((ending) => `${name}.${ending}`))).toBe('');
  const complaints = await compile(folder.path, noEmit, ...endings.map((ending) => `${name}-wrong.${ending}`));
  expect(complaints.split('\n')).toEqual(
    endings.map(
      (ending) => expect.stringMatching(new RegExp(`^${name}-wrong.${ending}\\(6,14\\): error TS2322`)) as string,
    ),
  );
});

test('it brings the command herald-receiver, which says what is missing and shows no stack', async () => {
  const command = join('node_modules', '.bin', 'herald-receiver');
  const calls: [args: string[], sentence: RegExp][] = [
    [['--help'], /herald-receiver listen --api <origin>/],
    [['listen', '--help'], /herald-receiver listen --api <origin>/],
    [['lissten'], /there is no command lissten: use listen, trigger, verify/],
    [['listen'], /--api is missing/],
    [['listen', '--api', 'localhost:8080'], /--api must be a url that begins with http/],
    [['listen', '--api', 'http://a', '--key', 'two words'], /--key must be an API key/],
    [['listen', '--api', 'http://a', '--key', 'k'], /--forward-to is missing/],
    [
      ['listen', '--api', 'http://a', '--key', 'k', '--forward-to', 'http://b', '--events', 'task.dune'],
      /task.dune is no event/,
    ],
    [
      ['listen', '--api', 'http://a', '--key', 'k', '--forward-to', 'http://b', '--secret', 'x'],
      /--secret: secrets\[0\] is not as/,
    ],
    [['trigger'], /the event is missing: name one of task.check_in/],
    [['trigger', 'task.done', '--forward-to', 'http://b'], /--secret is missing/],
    [['trigger', 'task.done', 'twice'], /twice is one word too many/],
    [['verify', 'nothing', '--secret', `whsec_${'A'.repeat(44)}`], /nothing can't be read/],
    [['verify', '--sekret'], /--sekret/],
  ];
  for (const [args, sentence] of calls) {
    const { code, output } = await run([command, ...args]);
    expect({ args, code, output }).toEqual({
      args,
      code: args.includes('--help') ? 0 : 2,
      output: expect.stringMatching(sentence) as string,
    });
    expect(output).not.toMatch(/^ +at /m);
  }
});

if (node20 === undefined) test.todo('these run on Node 20, which is not on the PATH: they ran on this one instead');
