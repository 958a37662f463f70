import { startProcess } from '@herald/test-kit';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const README = join(ROOT, 'packages/client/README.md');

export interface Project extends AsyncDisposable {
  path: string;
  write(name: string, text: string): Promise<void>;
  /** What it printed. @throws Error when it fails */
  run(command: string, args: readonly string[], env?: Record<string, string>): Promise<string>;
}

/** An empty project of a customer, with the package as npm would publish it. The registry is not asked. */
export async function installClient(): Promise<Project> {
  const path = await mkdtemp(join(tmpdir(), 'herald-client-'));
  const project: Project = {
    path,
    write: (name, text) => writeFile(join(path, name), text),
    async run(command, args, env = {}) {
      await using ran = await startProcess({ name: command, command, args, cwd: path, env: { HOME: path, ...env } });
      const { code } = await ran.exited;
      if (code === 0) return ran.output();
      throw new Error(`${command} ${args.join(' ')} ended with ${String(code)}\n${ran.tail()}`);
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
  try {
    const packages = ['packages/client'];
    const packed = await project.run('npm', ['pack', '--ignore-scripts', ...packages.map((each) => join(ROOT, each))]);
    const files = packed.split('\n').filter((line) => /^[\w.-]+\.tgz$/.test(line));
    await project.write('package.json', '{ "private": true }');
    await project.run('npm', [
      'install',
      '--offline',
      '--no-audit',
      '--ignore-scripts',
      ...files.map((each) => `./${each}`),
    ]);
    await mkdir(join(path, 'node_modules/@types'));
    await symlink(join(ROOT, 'node_modules/@types/node'), join(path, 'node_modules/@types/node'));
    return project;
  } catch (error) {
    await project[Symbol.asyncDispose]();
    throw error;
  }
}

/** The examples of the README, by their names. */
export async function readExamples(): Promise<Map<string, string>> {
  const text = await readFile(README, 'utf8');
  const blocks = text.matchAll(/<!-- example: (\S+) -->\n\n```\w+\n(.*?)```/gs);
  return new Map([...blocks].map(([, name = '', code = '']) => [name, code]));
}
