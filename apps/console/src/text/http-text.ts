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

const NAMES: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No Content',
  301: 'Moved Permanently',
  302: 'Found',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

/** `503 Service Unavailable`; only the number of a status without a common name. */
export function statusText(status: number): string {
  const name = NAMES[status];
  return name === undefined ? String(status) : `${status} ${name}`;
}
