import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CREATE_DOCUMENT = fileURLToPath(new URL('../apps/api/src/openapi/create-document.ts', import.meta.url));
const PRINT = `import(${JSON.stringify(CREATE_DOCUMENT)}).then(({ createOpenApiDocument }) =>
  process.stdout.write(JSON.stringify(createOpenApiDocument())))`;

/**
 * Jest's global setup: writes the OpenAPI document that `tests/support/openapi-document.ts` reads. Otherwise each test
 * file, which shares no module with others, would import the whole API for it.
 */
export default function writeOpenapiDocument() {
  const folder = mkdtempSync(join(tmpdir(), 'herald-openapi-'));
  process.on('exit', () => {
    rmSync(folder, { recursive: true });
  });
  const file = join(folder, 'openapi.json');
  writeFileSync(file, execFileSync(process.execPath, ['--conditions=source', '--eval', PRINT]));
  process.env.HERALD_TEST_OPENAPI = file;
}
