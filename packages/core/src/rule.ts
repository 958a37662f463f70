import type { z } from 'zod';

/**
 * States the rule of a field, as the rest of a sentence that begins with its name: `must be a time`. A missing field
 * breaks the general rule instead: `is required`.
 */
export function rule(text: string) {
  return ({ input }: { readonly input?: unknown }): string | undefined => (input === undefined ? undefined : text);
}

/** Refuses a former name beside its new one, and two new ones that stand for the same. For `superRefine`. */
export function refuseBoth(former: string, ...names: readonly string[]) {
  return (input: Readonly<Record<string, unknown>>, context: z.RefinementCtx): void => {
    const [first, second] = [...names, former].filter((name) => input[name] !== undefined);
    if (first === undefined || second === undefined) return;
    const message =
      second === former
        ? `is the former name of ${first}, which is given too: leave it out`
        : `must not be given beside ${first}`;
    context.addIssue({ code: 'custom', path: [second], message, params: { code: 'conflict' }, input: input[second] });
  };
}
