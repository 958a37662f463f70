#!/usr/bin/env node
// Puts the Node that `npm ci` installed first on the PATH of npm scripts. npm 11.6 and later do it themselves. Earlier
// ones remove the link to this platform's Node together with the package of the other platform, which has a command of
// the same name. Scripts call this file by its path: a shell that has looked up `node` once would keep the one that it
// found.
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const inRoot = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

const binary = `node-${process.platform}-${process.arch}/bin/node`;
if (existsSync(inRoot(`node_modules/${binary}`))) {
  link(`../${binary}`, inRoot('node_modules/.bin/node'));
} else {
  const { engines } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'));
  const needed = engines.node.replace('>=', '');
  if (isOlder(process.versions.node, needed)) {
    console.error(
      `Herald needs Node ${needed} or later, and this is ${process.versions.node}. npm ci brings it on Linux (x64, arm64); ` +
        'elsewhere install it from https://nodejs.org first.',
    );
    process.exitCode = 1;
  }
}

function link(target, path) {
  if (existsSync(path)) return; // npm's own link, or ours
  mkdirSync(inRoot('node_modules/.bin'), { recursive: true });
  rmSync(path, { force: true }); // a link to nothing
  try {
    symlinkSync(target, path);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error; // two scripts at once make the same link
  }
}

function isOlder(version, needed) {
  const [major, minor] = version.split('.').map(Number);
  const [neededMajor, neededMinor = 0] = needed.split('.').map(Number);
  return major < neededMajor || (major === neededMajor && minor < neededMinor);
}
