import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** What of a value breaks a schema of a document. */
export type Schemas = ReturnType<typeof createSchemas>;

/** The schemas of an OpenAPI document. Each is compiled when it is first needed, which takes most of the time. */
export function createSchemas(document: object) {
  // The document as a whole is no schema: to hold it against the meta-schema would prove nothing, and takes 40 ms.
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  addFormats.default(ajv);
  ajv.addSchema(document, 'document');
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
      const validate = validatorAt(pointer);
      if (validate(JSON.parse(json))) return [];
      return (validate.errors ?? []).map(
        ({ instancePath, message, params }) => `${instancePath || 'it'} ${message ?? ''} ${JSON.stringify(params)}`,
      );
    },
  };
}
