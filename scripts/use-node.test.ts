import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'herald-use-node-'));
  mkdirSync(join(folder, 'scripts'));
  cpSync(join(import.meta.dirname, 'use-node.js'), join(folder, 'scripts/use-node.js'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

test('the Node of this platform is linked where npm scripts look first, also in place of a link to nothing', () => {
  needNode('99');
  bringNode();
  expect(useNode()).toEqual({ status: 0, stderr: '' });
  expect(linked()).toBe(`../node-${process.platform}-${process.arch}/bin/node`);

  rmSync(join(folder, 'node_modules/.bin/node'));
  symlinkSync('../gone/bin/node', join(folder, 'node_modules/.bin/node'));
  expect(useNode()).toEqual({ status: 0, stderr: '' });
  expect(linked()).toBe(`../node-${process.platform}-${process.arch}/bin/node`);
});

test('a link that npm made stays', () => {
  needNode('99');
  bringNode();
  mkdirSync(join(folder, 'node_modules/.bin'));
  symlinkSync(process.execPath, join(folder, 'node_modules/.bin/node'));
  expect(useNode()).toEqual({ status: 0, stderr: '' });
  expect(linked()).toBe(process.execPath);
});

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

test.each([`${major}.${minor}`, `${major}`, `${major - 1}.99`])(
  'without it, a Node that is %s or later does',
  (needed) => {
    needNode(needed);
    expect(useNode()).toEqual({ status: 0, stderr: '' });
  },
);

test.each([`${major}.${minor + 1}`, `${major + 1}.0`])(
  'without it, where %s is needed, a sentence says so',
  (needed) => {
    needNode(needed);
    expect(useNode()).toEqual({
      status: 1,
      stderr:
        `Herald needs Node ${needed} or later, and this is ${process.versions.node}. npm ci brings it on Linux (x64, arm64); ` +
        'elsewhere install it from https://nodejs.org first.\n',
    });
  },
);

function needNode(version: string): void {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', engines: { node: `>=${version}` } }));
}

function bringNode(): void {
  const bin = join(folder, `node_modules/node-${process.platform}-${process.arch}/bin`);
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'node'), '#!/bin/sh\n');
  chmodSync(join(bin, 'node'), 0o755);
}

function useNode() {
  const { status, stderr } = spawnSync(process.execPath, [join(folder, 'scripts/use-node.js')], { encoding: 'utf8' });
  return { status, stderr };
}

function linked(): string {
  return readlinkSync(join(folder, 'node_modules/.bin/node'));
}
