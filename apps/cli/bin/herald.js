#!/usr/bin/env node
// `npx herald` in the checkout, and `herald` in the image. npm links this file before anything is built.
import { existsSync } from 'node:fs';

const program = new URL('../dist/main.js', import.meta.url);
if (existsSync(program)) {
  await import(program.href);
} else {
  console.error('herald is not built. Type: npm run build');
  process.exitCode = 1;
}
