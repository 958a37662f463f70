import { z } from 'zod';

/** What a stable code means, and what to do about it. Plain sentences, with `code` in backticks. */
export type CodeEntry = { readonly meaning: string; readonly action: string };

/** A closed list of codes. */
export type CodeTable<Code extends string = string> = Readonly<Record<Code, CodeEntry>>;

/** The codes of a table, in its order. */
export function codesOf<Code extends string>(table: CodeTable<Code>): readonly [Code, ...Code[]] {
  return Object.keys(table) as [Code, ...Code[]];
}

/** Whether the text is a code of the table. A newer version may have recorded one that this version doesn't know. */
export function isCodeOf<Code extends string>(table: CodeTable<Code>, text: string | undefined): text is Code {
  return text !== undefined && Object.hasOwn(table, text);
}

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
