import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { installClient, readExamples, type Project } from '../e2e/client/install-client.ts';

jest.setTimeout(120_000);

const TYPESCRIPT = join(import.meta.dirname, '../../node_modules/typescript-4.9/bin/tsc');

const OPTIONS = ['--noEmit', '--strict', '--target', 'es2022', '--types', 'node'];
const RESOLUTIONS = {
  node16: ['--module', 'node16', '--moduleResolution', 'node16'],
  node: ['--module', 'esnext', '--moduleResolution', 'node'],
};

let project: Project;
beforeAll(async () => {
  project = await installClient();
});
afterAll(() => project[Symbol.asyncDispose]());

const check = (resolution: keyof typeof RESOLUTIONS, files: readonly string[], more: readonly string[] = []) =>
  project.run(process.execPath, [TYPESCRIPT, ...OPTIONS, ...RESOLUTIONS[resolution], ...more, ...files]);

const PROGRAM = `
import { createTenantClient, ProblemError, type ProblemCode } from '@herald/client';
const herald = createTenantClient({ baseUrl: 'https://herald.example.com', key: 'hrld_1' });
export async function use(): Promise<ProblemCode | string> {
  const receiver = await herald.registerReceiver({ body: { url: 'https://a.example', events: ['task.done'] } });
  for await (const delivery of herald.listDeliveries()) if (delivery.status === 'failed') return delivery.id;
  return receiver.id;
}
console.log(typeof herald.createTask, new ProblemError({ status: 404, code: 'task_not_found', detail: 'none' }).code);
`;
const PRINTS = 'function task_not_found';
const asJavaScript = (program: string) => program.replace(/, type \w+|: Promise<.*>/g, '');

test('an ES module imports the package, and a CommonJS module requires it', async () => {
  await project.write('import.mjs', asJavaScript(PROGRAM));
  await project.write(
    'require.cjs',
    asJavaScript(PROGRAM)
      .replace('export ', '')
      .replace(/import (.*) from (.*);/, 'const $1 = require($2);'),
  );
  for (const file of ['import.mjs', 'require.cjs']) {
    expect(await project.run(process.execPath, [file])).toBe(PRINTS);
  }
});

test.each(['node16', 'node'] as const)(
  'TypeScript 4.9 with moduleResolution %s reads its types, in ES modules and CommonJS, and the examples',
  async (resolution) => {
    await project.write('program.mts', PROGRAM);
    await project.write('program.cts', PROGRAM);
    const examples = [...(await readExamples())].filter(([name]) => name.endsWith('.ts'));
    for (const [name, code] of examples) await project.write(name.replace(/ts$/, 'mts'), code);
    const files = ['program.mts', 'program.cts', ...examples.map(([name]) => name.replace(/ts$/, 'mts'))];
    // `npm run check:packages` reads all of its types, without `@types/node`, which are for later compilers.
    expect(await check(resolution, files, ['--skipLibCheck'])).toBe('');
  },
);

test('its types refuse a field that there is not, a missing one, a missing path, and an operation of others', async () => {
  const wrong = [
    "await herald.registerReceiver({ body: { url: 'https://a.example', event: [] } });",
    'await herald.registerReceiver({ body: {} });',
    'await herald.readTask();',
    'herald.reportTransitions;',
  ];
  await project.write('wrong.mts', `${PROGRAM}${wrong.join('\n')}`);
  const errors = await check('node16', ['wrong.mts'], ['--skipLibCheck']).catch(String);
  const first = PROGRAM.split('\n').length;
  const found = [...errors.matchAll(/wrong\.mts\((\d+),/g)].map(([, line]) => Number(line) - first);
  expect(found).toEqual([0, 1, 2, 3]);
});

test('the package holds nothing but what is needed', async () => {
  const files = await project.run('find', ['node_modules/@herald/client', '-type', 'f']);
  const others = files.split('\n').filter((file) => !/\/(dist|cjs)\/[\w/-]+\.(js|d\.ts)$/.test(file));
  expect(others.map((file) => file.replace('node_modules/@herald/client/', '')).sort()).toEqual([
    'LICENSE',
    'README.md',
    'cjs/package.json',
    'package.json',
  ]);
});

const NODE_20 = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'node'))
  .find((node) => existsSync(node) && execFileSync(node, ['--version'], { encoding: 'utf8' }).startsWith('v20.'));

if (NODE_20 === undefined) {
  test.todo('the package runs on Node 20, which is not tried: no node of that version is on the PATH');
} else {
  test('the package runs on Node 20', async () => {
    await project.write('import.mjs', asJavaScript(PROGRAM));
    expect(await project.run(NODE_20, ['import.mjs'])).toBe(PRINTS);
  });
}
