type Refusal = { readonly path: string; readonly message: string };

/** The fields of the form that show themselves what the service says about them. */
const FIELDS = ['url', 'orderingTimeoutSeconds', 'rateLimit', 'maxRetryHours', 'headers'];

const isOf = (field: string, path: string): boolean => path === field || path.startsWith(`${field}.`);

/** What the service says about a field of the form; about headers with the name of each. */
export function findRefusal(refusals: readonly Refusal[], field: string): string | undefined {
  const found = refusals.filter(({ path }) => isOf(field, path));
  const [first] = found;
  if (first === undefined) return undefined;
  if (field !== 'headers') return withoutPath(first);
  return found.map((each) => `${each.path.slice('headers.'.length)} ${withoutPath(each)}`.trim()).join('; ');
}

/** The field stands beside it. */
function withoutPath({ path, message }: Refusal): string {
  return message.startsWith(`${path} `) ? message.slice(path.length + 1) : message;
}

/** Whether the fields show all of it. */
export function isToldAtFields(refusals: readonly Refusal[]): boolean {
  return refusals.length > 0 && refusals.every(({ path }) => FIELDS.some((field) => isOf(field, path)));
}
