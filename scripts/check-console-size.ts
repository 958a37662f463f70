import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

// `npm run check:console`, part of `npm run verify`: what a first load of the console costs, after `npm run build`.
const LIMIT_BYTES = 180 * 1_024;
const dist = join(import.meta.dirname, '../apps/console/dist');
const page = readFileSync(join(dist, 'index.html'), 'utf8');
const scripts = [...page.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+\.js)"/g)].map(([, path = '']) => path);
if (scripts.length === 0) throw new Error('the built page names no script: the check would prove nothing');
const sizeOf = (path: string) => statSync(join(dist, `${path}.gz`)).size;
const first = scripts.reduce((sum, path) => sum + sizeOf(path), 0);
const all = readdirSync(join(dist, 'console/assets'))
  .filter((name) => name.endsWith('.js'))
  .reduce((sum, name) => sum + sizeOf(`console/assets/${name}`), 0);
const inKb = (bytes: number) => `${(bytes / 1_024).toFixed(1)} KiB`;
console.log(`console: ${inKb(first)} of JavaScript gzipped at first load, ${inKb(all)} with every page`);
if (first > LIMIT_BYTES) {
  console.error(`the first load may have at most ${inKb(LIMIT_BYTES)}: load less at first, or lazily`);
  process.exitCode = 1;
}
