type Refusal = { readonly path: string; readonly message: string };

/** The fields of the form that show themselves what the service says about them. */
const FIELDS = ['url', 'orderingTimeout', 'rateLimit', 'maxRetryHours', 'headers'];

const isOf = (field: string, path: string): boolean => path === field || path.startsWith(`${field}.`);

/** What the service says about a field of the form; about headers with the name of each. */
export function findRefusal(refusals: readonly Refusal[], field: string): string | undefined {
  const found = refusals.filter(({ path }) => isOf(field, path));
  if (found.length === 0) return undefined;
  if (field !== 'headers') return found[0]?.message;
  return found.map(({ path, message }) => `${path.slice('headers.'.length)} ${message}`.trim()).join('; ');
}

/** Whether the fields show all of it. */
export function isToldAtFields(refusals: readonly Refusal[]): boolean {
  return refusals.length > 0 && refusals.every(({ path }) => FIELDS.some((field) => isOf(field, path)));
}
