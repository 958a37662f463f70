import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSbom } from './sbom/create-sbom.ts';
import type { Lock } from './sbom/production-packages.ts';

// `npm run --silent sbom > herald.cdx.json`. `npm sbom --omit dev` leaves out packages that tests need too, such as
// express.
const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as Lock;
const sbom = createSbom(lock, { serialNumber: `urn:uuid:${randomUUID()}`, timestamp: new Date().toISOString() });
console.log(JSON.stringify(sbom, null, 2));
