type SentRequest = {
  readonly url: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly omittedHeaders: readonly string[];
  readonly body: string | null;
};

/** curl makes them itself. */
const MADE_BY_CURL = new Set(['host', 'content-length']);

/** A command for a shell that sends the request again. Signatures are never shown, so they are placeholders. */
export function curlText({ url, headers, omittedHeaders, body }: SentRequest): string {
  const given = Object.entries(headers).filter(([name]) => !MADE_BY_CURL.has(name));
  const lines = [
    `curl -sS -X POST ${quote(url ?? 'https://')}`,
    ...given.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...omittedHeaders.map((name) => `-H ${quote(`${name}: <${name}>`)}`),
    ...(body === null ? [] : [`--data-binary ${quote(body)}`]),
  ];
  return lines.join(' \\\n  ');
}

/** One word of a POSIX shell. A body that began with @ would be read as the name of a file, and none does: it is JSON. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
