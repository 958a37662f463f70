/** The most characters of an endpoint's url. */
export const LIMIT_CHARACTERS = 2_048;

/** Turns a host in Punycode into the one that people write. Node has it, browsers have not. */
type ToUnicode = (host: string) => string;

/** Host and port as written, everything between `https://` (a scheme may have capitals) and the path; then the path and the query. */
const PARTS = /^https:\/\/([^/?#]+)(.*)$/is;

const SEND_HEADERS = 'send them in `headers`, such as {"authorization": "Basic …"}';

/**
 * Why a url can't be an endpoint's, or undefined. The rules concern only the text; the egress guard judges addresses.
 * Without `toUnicode`, a host with letters beyond ASCII passes.
 * @param instead what does the work of credentials in the url
 */
export function judgeEndpointUrl(text: string, toUnicode?: ToUnicode, instead = SEND_HEADERS): string | undefined {
  if (text.length > LIMIT_CHARACTERS) return `must have at most ${LIMIT_CHARACTERS} characters`;
  // The parser would repair blanks, tabs, line breaks and backslashes, but Herald must call the url as it was sent.
  if (/[\s\\\p{Cc}]/u.test(text)) {
    return `must not contain white space, control characters or backslashes${suggestRepaired(text, toUnicode)}`;
  }
  // Half a surrogate pair, or marks that hide or reorder text.
  if (/[\p{Cs}\p{Cf}]/u.test(text)) return 'must not contain invisible or broken characters';
  if (!/^https:\/\//i.test(text)) return 'must start with https://';
  const [, authority, target = ''] = PARTS.exec(text) ?? [];
  if (authority === undefined) return 'must name a host after https://';
  if (authority.includes('@')) return `must not contain credentials (user or password): ${instead}`;
  const url = URL.parse(text);
  if (!url) return 'must be a valid url';
  if (text.includes('#')) return 'must not contain a fragment (#...)';
  return judgeAuthority(authority, url.hostname, toUnicode) ?? judgeTarget(authority, target, url);
}

/** The url as the parser repairs it, for the sentence that refuses it. */
function suggestRepaired(text: string, toUnicode?: ToUnicode): string {
  const repaired = URL.parse(text)?.href ?? text;
  return repaired !== text && judgeEndpointUrl(repaired, toUnicode) === undefined ? `; write ${repaired}` : '';
}

/** Refuses a host that the parser would rewrite: two programs may read two hosts from it. */
function judgeAuthority(authority: string, hostname: string, toUnicode?: ToUnicode): string | undefined {
  const [, host = '', port] = /^(.*?)(?::([^:\]]*))?$/.exec(authority) ?? [];
  if (port !== undefined && !/^[1-9]\d*$/.test(port))
    return 'must have a port from 1 to 65535 after the colon, or none';
  // Any spelling of an IPv6 address is unambiguous.
  if (host.startsWith('[')) return undefined;
  const written = host.toLowerCase();
  const isAsRead =
    written === hostname ||
    (written.normalize('NFC') === written && (toUnicode ? written === toUnicode(hostname) : /[^ -~]/.test(written)));
  return isAsRead ? undefined : `must be written with the host that it means, ${hostname}`;
}

/** Refuses a path or query that the parser would rewrite: the receiver would be called under another one. */
function judgeTarget(authority: string, target: string, { pathname, search }: URL): string | undefined {
  const called = pathname + search;
  // HTTP itself calls a url without a path as one with the path / (RFC 9110 section 7.1).
  const written = target.startsWith('/') ? target : `/${target}`;
  if (written === called) return undefined;
  const normal = `https://${authority}${called}`;
  return normal.length > LIMIT_CHARACTERS
    ? `must have at most ${LIMIT_CHARACTERS} characters when it is written as it is called, percent-encoded`
    : `must be written as it is called, ${normal}`;
}
