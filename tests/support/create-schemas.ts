import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { appendFileSync } from 'node:fs';

/** The schemas of an OpenAPI document. Each is compiled when it is first needed, which takes most of the time. */
export function createSchemas(document: object) {
  // The document as a whole is no schema: to hold it against the meta-schema would prove nothing, and takes 40 ms.
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  addFormats.default(ajv);
  ajv.addSchema(toStrict(document), 'document');
  const validators = new Map<string, ValidateFunction>();

  const validatorAt = (pointer: string): ValidateFunction => {
    const known = validators.get(pointer);
    if (known) return known;
    const validate = ajv.getSchema(`document#${encodeURI(pointer)}`);
    if (!validate) throw new Error(`the document has no schema at ${pointer}`);
    validators.set(pointer, validate);
    return validate;
  };
  return {
    /** Of the value that is written as `json`, at a place in the document; empty: nothing. */
    findBreaches(pointer: string, json: string): readonly string[] {
      record(pointer, json);
      const validate = validatorAt(pointer);
      if (validate(JSON.parse(json))) return [];
      return (validate.errors ?? []).map(
        ({ instancePath, message, params }) => `${instancePath || 'it'} ${message ?? ''} ${JSON.stringify(params)}`,
      );
    },
  };
}

/** The file to write the answers that tests get into, each form once: what generated clients must read. */
const ANSWERS = process.env.HERALD_TEST_ANSWERS;
const recorded = new Set<string>();

function record(pointer: string, json: string): void {
  if (ANSWERS === undefined || !json.startsWith('{')) return; // A header is no body.
  const value = JSON.parse(json) as unknown;
  const form = JSON.stringify(value, (_name, each: unknown) => {
    if (Array.isArray(each)) return each.slice(0, 3) as unknown[];
    return typeof each === 'number' || (typeof each === 'string' && !/^[a-z_.#/]{1,60}$/.test(each)) ? 0 : each;
  });
  if (recorded.has(pointer + form)) return;
  recorded.add(pointer + form);
  appendFileSync(ANSWERS, `${JSON.stringify({ pointer, value })}\n`);
}

/** The document lets a later version add fields and values to answers. This version answers exactly what it says. */
function toStrict(node: unknown): object {
  const strict = (each: unknown): unknown => {
    if (Array.isArray(each)) return each.map(strict);
    if (typeof each !== 'object' || each === null) return each;
    const fields = Object.fromEntries(Object.entries(each).map(([name, value]) => [name, strict(value)]));
    const { type, properties, additionalProperties, 'x-extensible-enum': values } = fields;
    const isOpen = type === 'object' && properties !== undefined && additionalProperties === undefined;
    return {
      ...fields,
      ...(isOpen && { additionalProperties: false }),
      ...(Array.isArray(values) && { enum: values as unknown[] }),
    };
  };
  return strict(node) as object;
}
