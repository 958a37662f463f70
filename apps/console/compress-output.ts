import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

const COMPRESSED = /\.(html|js|css|svg)$/;

/** Writes each file of the build compressed beside itself, once, so that the API needs to compress nothing. */
export function compressOutput(): Plugin {
  return {
    name: 'compress-output',
    apply: 'build',
    // After the page has its final form.
    enforce: 'post',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        for (const [fileName, output] of Object.entries(bundle)) {
          if (!COMPRESSED.test(fileName)) continue;
          const content = output.type === 'chunk' ? output.code : output.source;
          const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
          this.emitFile({ type: 'asset', fileName: `${fileName}.gz`, source: gzipSync(content, { level: 9 }) });
          this.emitFile({ type: 'asset', fileName: `${fileName}.br`, source: brotliCompressSync(content, { params }) });
        }
      },
    },
  };
}
