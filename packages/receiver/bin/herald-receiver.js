#!/usr/bin/env node
// npm links this file in the repository before anything is built.
import { existsSync } from 'node:fs';

const program = new URL('../dist/cli/main.js', import.meta.url);
if (existsSync(program)) {
  await import(program.href);
} else {
  process.stderr.write('herald-receiver is not built. Type: npm run build\n');
  process.exitCode = 1;
}
