import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What prints the two as JSON. */
const OPENAPI = `import(${urlOf('../apps/api/src/documents/create-document.ts')})
  .then(({ createOpenApiDocument }) => process.stdout.write(JSON.stringify(createOpenApiDocument())))`;
const AUTHORITY = `import(${urlOf('./support/shared-authority.ts')})
  .then(({ makeSharedAuthority }) => makeSharedAuthority())
  .then((made) => process.stdout.write(JSON.stringify(made)))`;

/**
 * Jest's global setup: makes the OpenAPI document that `tests/support/openapi-document.ts` reads, and the certificate
 * authority of `tests/support/shared-authority.ts`. Otherwise each process of jest would
 * import the whole API and a library for certificates.
 */
export default function makeOnce() {
  // Compiled code is kept from one process to the next: the suite starts hundreds.
  process.env.NODE_COMPILE_CACHE = fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), 'herald-made-once-'));
  process.on('exit', () => {
    rmSync(folder, { recursive: true });
  });
  const write = (name, program) => {
    const file = join(folder, name);
    writeFileSync(file, execFileSync(process.execPath, ['--conditions=source', '--eval', program]), { mode: 0o600 });
    return file;
  };
  process.env.HERALD_TEST_OPENAPI = write('openapi.json', OPENAPI);
  process.env.HERALD_TEST_AUTHORITY = write('authority.json', AUTHORITY);
}

function urlOf(path) {
  return JSON.stringify(fileURLToPath(new URL(path, import.meta.url)));
}
