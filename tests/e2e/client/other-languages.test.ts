import { findExecutable, startProcess } from '@herald/test-kit';
import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startHerald, type Herald } from '../../support/start-herald.ts';

jest.setTimeout(300_000);

const DOCUMENT = new URL('../../../docs/other-languages.md', import.meta.url);

const python = findExecutable('openapi-python-client');
const go = findExecutable('go');
const goEnv = (name: string) => (go === undefined ? '' : execFileSync(go, ['env', name], { encoding: 'utf8' }).trim());
const MODULES = goEnv('GOMODCACHE');
/** The generator of this version, and what its clients need. Who has typed the commands of the document has them. */
const hasGoModules =
  globSync(['oapi-codegen/v2@v2.8.2', 'runtime@*'], { cwd: join(MODULES, 'github.com/oapi-codegen') }).length > 1;

let herald: Herald | undefined;
let folder: string;
beforeAll(async () => {
  if (python === undefined && !hasGoModules) return;
  [herald, folder] = [await startHerald({ workers: 0 }), await mkdtemp(join(tmpdir(), 'herald-languages-'))];
});
afterAll(async () => {
  await herald?.[Symbol.asyncDispose]();
  if (herald) await rm(folder, { recursive: true });
});

/** A block of the document, by what stands before it. */
async function readBlock(before: string): Promise<string> {
  const [, rest] = (await readFile(DOCUMENT, 'utf8')).split(before);
  const code = /```\w+\n(.*?)```/s.exec(rest ?? '')?.[1];
  if (code === undefined) throw new Error(`the document has no code after ${before}`);
  return code;
}

async function runScript(name: string, script: string, env: Record<string, string>): Promise<string> {
  await using ran = await startProcess({ name, command: 'sh', args: ['-euc', script], cwd: folder, env });
  const { code } = await ran.exited;
  if (code !== 0) throw new Error(`${name} ended with ${String(code)}\n${ran.tail()}`);
  return ran.output();
}

async function envOf({ apis, createWorkspace }: Herald) {
  const { key } = await createWorkspace();
  return { HERALD_URL: apis[0]?.origin ?? '', HERALD_KEY: key, HOME: folder };
}

if (python === undefined) {
  test.todo('the Python client is made and called, which is not done: openapi-python-client is not on the PATH');
} else {
  test('the command for Python makes a client that creates a Task', async () => {
    if (!herald) throw new Error('it was started');
    const env = { ...(await envOf(herald)), PATH: `${dirname(python)}:${process.env.PATH ?? ''}` };
    const [, generate = ''] = (await readBlock('\n## Python\n')).split('pip install openapi-python-client\n');
    await runScript('generate', generate, env);
    await writeFile(join(folder, 'create_task.py'), await readBlock('<!-- example: create_task.py -->'));
    const interpreter = join(dirname(python), 'python');
    expect(await runScript('python', `'${interpreter}' create_task.py`, env)).toMatch(/^task_\w{26} is queued$/);
  });
}

if (!hasGoModules) {
  test.todo(
    'the Go client is made and called, which is not done: oapi-codegen v2.8.2 is not among the modules of Go here',
  );
} else {
  test('the command for Go makes a client that creates a Task', async () => {
    if (!herald) throw new Error('it was started');
    const offline = {
      GOFLAGS: '-mod=mod',
      GOPROXY: `file://${MODULES}/cache/download`,
      GOSUMDB: 'off',
      GOMODCACHE: MODULES,
    };
    const env = { ...(await envOf(herald)), PATH: process.env.PATH ?? '', GOCACHE: goEnv('GOCACHE'), ...offline };
    await mkdir(join(folder, 'herald'), { recursive: true });
    await writeFile(join(folder, 'go.mod'), 'module example.com/platform\n\ngo 1.24\n');
    await runScript('generate', await generateOnly(), env);
    await writeFile(join(folder, 'main.go'), await readBlock('<!-- example: main.go -->'));
    expect(await runScript('go', 'go mod tidy 2>tidied; go run .', env)).toMatch(/^task_\w{26} is queued$/);
  });
}

/** The block for Go without `go mod tidy`: the program that needs the modules isn't there yet. */
async function generateOnly(): Promise<string> {
  return (await readBlock('\n## Go\n')).replace('go mod tidy\n', '');
}
