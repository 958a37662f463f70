import { exec } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createScriptRecorder, type ScriptRecorder } from '../../scripts/install-scripts/try-install.ts';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));
/** What .dockerignore keeps out of the folders that it lets in. */
const IGNORED = /(^|\/)(node_modules|dist)$|\.tsbuildinfo$/;

export interface BuiltImage extends AsyncDisposable {
  /** The working directory of the last stage. */
  readonly folder: string;
  /** The image on which the last stage stands, such as `node:24.21.0-slim`. */
  readonly base: string;
  readonly user: string | undefined;
  readonly command: readonly string[];
  /** What the last stage sets. */
  readonly environment: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly ports: readonly string[];
  /** What npm ran in any stage, such as `postinstall some-package`. */
  readonly scripts: readonly string[];
}

interface Stage {
  readonly root: string;
  workdir: string;
}

/**
 * Goes through the Dockerfile without a container: each stage is a folder, `COPY` copies and `RUN` runs. It knows just the
 * forms that ours uses, and refuses any other. The npm cache that `npm ci` filled spares it the registry.
 */
export async function buildImage(): Promise<BuiltImage> {
  const base = await mkdtemp(join(tmpdir(), 'herald-image-'));
  const remove = async () => {
    await promisify(exec)(`chmod -R u+w ${base}`); // a test may have made it read-only
    await rm(base, { recursive: true });
  };
  try {
    return { ...(await goThroughStages(base)), [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function goThroughStages(base: string): Promise<Omit<BuiltImage, keyof AsyncDisposable>> {
  const stages = new Map<string, Stage>();
  let stage: Stage | undefined;
  let imageBase = '';
  let user: string | undefined;
  let command: readonly string[] = [];
  let environment: Record<string, string> = {};
  const labels: Record<string, string> = {};
  let ports: readonly string[] = [];
  const recorder = await createScriptRecorder(base);
  const current = () => {
    if (!stage) throw new Error('the Dockerfile has to begin with FROM');
    return stage;
  };
  for (const [instruction, rest] of await readInstructions()) {
    switch (instruction) {
      case 'FROM': {
        const name = / AS (\w+)$/.exec(rest)?.[1] ?? 'last';
        stage = { root: join(base, name), workdir: '/' };
        stages.set(name, stage);
        environment = {};
        imageBase = rest.replace(/ AS \w+$/, '');
        break;
      }
      case 'WORKDIR':
        current().workdir = rest;
        await mkdir(inStage(current(), '.'), { recursive: true });
        break;
      case 'COPY':
        await copy(rest, current(), stages);
        break;
      case 'RUN':
        await run(rest, current(), recorder);
        break;
      case 'USER':
        user = rest;
        break;
      case 'CMD':
        command = JSON.parse(rest) as string[];
        break;
      case 'ENV':
        setOne(environment, rest);
        break;
      case 'LABEL':
        setOne(labels, rest);
        break;
      case 'EXPOSE':
        ports = rest.split(' ');
        break;
      default:
        throw new Error(`the Dockerfile has an instruction that this test doesn't know: ${instruction}`);
    }
  }
  return {
    folder: inStage(current(), '.'),
    base: imageBase,
    user,
    command,
    environment,
    labels,
    ports,
    scripts: await recorder.read(),
  };
}

/** Reads `NAME=value` or `NAME="a value"`. */
function setOne(values: Record<string, string>, text: string): void {
  const [, name, quoted, bare] = /^([\w.]+)=(?:"([^"]*)"|(\S+))$/.exec(text) ?? [];
  if (name === undefined) throw new Error(`the Dockerfile sets what this test can’t read: ${text}`);
  values[name] = quoted ?? bare ?? '';
}

async function readInstructions(): Promise<[string, string][]> {
  const lines = (await readFile(join(REPOSITORY, 'Dockerfile'), 'utf8')).split('\n');
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]);
}

function inStage({ root, workdir }: Stage, path: string): string {
  return join(root, path.startsWith('/') ? path : join(workdir, path));
}

async function copy(rest: string, stage: Stage, stages: ReadonlyMap<string, Stage>): Promise<void> {
  const words = rest.split(' ');
  const from = /^--from=(\w+)$/.exec(words[0] ?? '')?.[1];
  const [destination = '', ...sources] = (from === undefined ? words : words.slice(1)).reverse();
  const source = from === undefined ? undefined : stages.get(from);
  if (from !== undefined && source === undefined) throw new Error(`COPY from a stage that isn't there: ${from}`);
  for (const path of sources) {
    const absolute = source ? inStage(source, path) : join(REPOSITORY, path);
    const into = inStage(stage, destination);
    const isOneFile = destination.endsWith('/') && !source;
    await cp(absolute, isOneFile ? join(into, basename(path)) : into, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (each) => source !== undefined || !IGNORED.test(each.slice(REPOSITORY.length)),
    });
  }
}

/** An absolute folder that a command makes or fills is one of its stage. */
async function run(command: string, stage: Stage, recorder: ScriptRecorder): Promise<void> {
  const inRoot = command.replaceAll(' /built', ` ${join(stage.root, 'built')}`);
  await promisify(exec)(inRoot, {
    cwd: inStage(stage, '.'),
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      npm_config_prefer_offline: 'true',
      ...recorder.env,
      ...certificates(),
    },
    maxBuffer: 64 * 1_024 * 1_024,
  });
}

/** npm's own trust, when the registry is behind a proxy with a certificate of its own. */
function certificates(): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS } = process.env;
  return NODE_EXTRA_CA_CERTS === undefined ? {} : { NODE_EXTRA_CA_CERTS };
}
