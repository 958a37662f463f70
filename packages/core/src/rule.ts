/**
 * States the rule of a field, as the rest of a sentence that begins with its name: `must be a time`. A missing field
 * breaks the general rule instead: `is required`.
 */
export function rule(text: string) {
  return ({ input }: { readonly input?: unknown }): string | undefined => (input === undefined ? undefined : text);
}
