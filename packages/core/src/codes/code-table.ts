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
