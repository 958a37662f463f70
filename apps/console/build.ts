import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';

// The second half of `npm run build`. The API serves what it leaves in dist, compressed here once.
const { outputs } = await build({ configFile: join(import.meta.dirname, 'vite.config.ts'), logLevel: 'warn' }).then(
  () => ({ outputs: globSync('dist/**/*.{html,js,css,svg}', { cwd: import.meta.dirname }) }),
);
for (const name of outputs) {
  const file = join(import.meta.dirname, name);
  const content = readFileSync(file);
  writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  writeFileSync(`${file}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
}
