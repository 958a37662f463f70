import { z } from 'zod';

type JsonSchema = Record<string, unknown>;

/**
 * Turns a closed list of a JSON schema into known values, to which a later version may add. A generated client then
 * reads a value that it doesn't know, where a closed list would make it refuse the whole answer.
 */
export function openValues(jsonSchema: JsonSchema): void {
  const { enum: values, const: value } = jsonSchema;
  if (Array.isArray(values) || typeof value === 'string') jsonSchema['x-extensible-enum'] = values ?? [value];
  delete jsonSchema.enum;
  delete jsonSchema.const;
}

/** One of the known values, in a webhook. */
export function KnownText<const Value extends string>(values: readonly [Value, ...Value[]]) {
  return z.enum(values).meta({
    override: ({ jsonSchema }: { jsonSchema: JsonSchema }) => {
      openValues(jsonSchema);
    },
  });
}
