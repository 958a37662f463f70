import { readFileSync } from 'node:fs';
import { TestEnvironment } from 'jest-environment-node';
import { createSchemas, type Schemas } from './create-schemas.ts';

let schemas: Schemas | undefined;

/** The document that jest's global setup has written. */
function readSchemas(): Schemas {
  const document = readFileSync(process.env.HERALD_TEST_OPENAPI ?? '', 'utf8');
  return createSchemas(JSON.parse(document) as object);
}

/**
 * For the tests of processes. Test files share no module, and each would compile the schemas of the answers that it gets:
 * 0.4 s of processor time. So they share those of the process of jest that runs them.
 */
export default class ProcessEnvironment extends TestEnvironment {
  override async setup(): Promise<void> {
    await super.setup();
    this.global.heraldSchemas = schemas ??= readSchemas();
  }
}
