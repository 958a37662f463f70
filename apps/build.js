#!/usr/bin/env node
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build as bundle } from 'rolldown';
import { build as buildPage } from 'vite';
import { makeKit } from '../packages/make-kit.js';

// Makes of each program one file with all that it needs, which Node loads in half the time of some 800 files. What only
// some configurations need stays apart, and is loaded when it is needed. Then it builds the console. The API also gets the
// kits as files.

const PROGRAMS = ['api', 'worker', 'cli'];

/** They read files that lie beside their own. */
const WITH_FILES = [/^@bull-board\/ui/, /^swagger-ui-dist/];

// An image is built without the history: its command names the commit.
const { HERALD_COMMIT: givenCommit = '' } = process.env;
const COMMIT = givenCommit === '' ? readCommit() : givenCommit;

function readCommit() {
  const describe = ['describe', '--always', '--exclude=*', '--abbrev=12', '--dirty=-changed'];
  const { status, stdout } = spawnSync('git', describe, { cwd: import.meta.dirname, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}

const folderOf = (app) => join(import.meta.dirname, app);

const outputs = await bundle(
  PROGRAMS.map((app) => ({
    input: join(folderOf(app), 'src/main.ts'),
    // Names of parts follow from it: wherever the build is typed, it makes the same files.
    cwd: join(import.meta.dirname, '..'),
    platform: 'node',
    external: WITH_FILES,
    // bull-board's default folder, which is not used.
    checks: { eval: false },
    resolve: { conditionNames: ['source', 'node'] },
    transform: { define: { HERALD_COMMIT: JSON.stringify(COMMIT) } },
    output: { dir: join(folderOf(app), 'dist'), entryFileNames: 'main.js', sourcemap: true },
    write: false,
  })),
);
// The API serves the kits.
const kit = makeKit().map(({ name, content }) => ({ type: 'asset', fileName: `kit/${name}`, source: content }));
for (const [index, app] of PROGRAMS.entries()) {
  await putInPlace(app, app === 'api' ? [...outputs[index].output, ...kit] : outputs[index].output);
}

const configFile = join(folderOf('console'), 'vite.config.ts');
const page = await buildPage({ configFile, logLevel: 'warn', build: { write: false } });
await putInPlace('console', page.output);

/**
 * Writes what has changed, and deletes what is no longer made. Processes may start meanwhile, so each file is replaced in
 * one step, and the one that names the others comes last.
 */
async function putInPlace(app, files) {
  const dist = join(folderOf(app), 'dist');
  const made = new Map(
    files.map((file) => [file.fileName, Buffer.from(file.type === 'chunk' ? file.code : file.source)]),
  );
  const isEntry = (name) => name === 'main.js' || name.startsWith('index.html');
  for (const name of [...made.keys()].sort((a, b) => Number(isEntry(a)) - Number(isEntry(b)))) {
    const path = join(dist, name);
    const present = await readFile(path).catch(() => undefined);
    if (present?.equals(made.get(name))) continue;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.new`, made.get(name));
    await rename(`${path}.new`, path);
  }
  const entries = await readdir(dist, { recursive: true, withFileTypes: true });
  const present = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const kept = new Set([...made.keys()].map((name) => join(dist, name)));
  for (const path of present) if (!kept.has(path)) await rm(path);
}
