import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createSbom } from './create-sbom.ts';
import type { Lock } from './production-packages.ts';

const ROOT = join(import.meta.dirname, '../..');
const SCHEMAS = join(
  dirname(createRequire(import.meta.url).resolve('@cyclonedx/cyclonedx-library/package.json')),
  'res/schema',
);
const readJson = (path: string): object => JSON.parse(readFileSync(path, 'utf8')) as object;

const facts = { serialNumber: 'urn:uuid:3e671687-395b-41f5-a30f-a58921a69b79', timestamp: '2026-11-22T10:00:00.000Z' };
const sbom = createSbom(readJson(join(ROOT, 'package-lock.json')) as Lock, facts);

test('it is what the schema of CycloneDX 1.6 wants', () => {
  const validate = createValidator();
  validate(sbom);
  expect(validate.errors).toBe(null);
  expect(validate({ ...sbom, bomFormat: 'SPDX' })).toBe(false);
});

test('it has what runs, also what the tests need as well, and nothing that only builds or tests', () => {
  const names = sbom.components.map(({ group, name }) => (typeof group === 'string' ? `${group}/${name}` : name));
  const needed = [
    '@herald/api',
    '@herald/worker',
    '@herald/cli',
    'express',
    'bullmq',
    'zod',
    'msgpackr-extract',
    '@scarf/scarf',
  ];
  expect(names).toEqual(expect.arrayContaining(needed));
  // Not the types of Node: a peer of the library that runs migrations needs them, so npm installs them.
  expect(
    names.filter((name) =>
      /^(jest|oxlint|@peculiar\/.*|node-linux-.*|@herald\/test-kit|@types\/(express|jest))$/.test(name),
    ),
  ).toEqual([]);
});

test('everything in it can be reached from Herald itself', () => {
  const needs = new Map(sbom.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const [herald = ''] = needs.keys();
  const reached = new Set([herald]);
  for (const ref of reached) for (const needed of needs.get(ref) ?? []) reached.add(needed);
  expect([...reached].sort()).toEqual([herald, ...sbom.components.map((component) => component['bom-ref'])].sort());
});

test('what comes from a registry has a purl, a hash and a licence; what is ours has no purl', () => {
  const foreign = sbom.components.filter(({ group }) => group !== '@herald');
  expect(foreign.filter(({ purl, hashes, licenses }) => !purl || !hashes || !licenses)).toEqual([]);
  expect(sbom.components.filter(({ group, purl }) => group === '@herald' && purl !== undefined)).toEqual([]);
});

/** The formats that ajv-formats lacks are those of addresses and links, which we have none of. */
function createValidator() {
  const ajv = new Ajv({ strict: false, formats: { 'iri-reference': true, 'idn-email': true } });
  addFormats.default(ajv);
  for (const name of ['spdx', 'jsf-0.82'])
    ajv.addSchema(
      readJson(join(SCHEMAS, `${name}.SNAPSHOT.schema.json`)),
      `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`,
    );
  return ajv.compile(readJson(join(SCHEMAS, 'bom-1.6.SNAPSHOT.schema.json')));
}
