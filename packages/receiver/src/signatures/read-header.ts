/** Fetch `Headers`, or a plain object such as Node's `IncomingHttpHeaders`. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * The value of a header; undefined when it is missing, repeated, or no text.
 * @param headers of any server; any value is accepted without an error, and names in any case
 * @param name in lower case
 */
export function readHeader(headers: unknown, name: string): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined;
  if (hasGet(headers)) return textOf(headers.get(name));
  const found = Object.entries(headers).filter(([key]) => key.toLowerCase() === name);
  return found.length === 1 ? textOf(found[0]?.[1]) : undefined;
}

function hasGet(headers: object): headers is { get(name: string): unknown } {
  return 'get' in headers && typeof headers.get === 'function';
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
