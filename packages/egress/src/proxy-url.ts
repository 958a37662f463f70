import { withoutBrackets } from './judge-url-host.ts';

/** Where the platform's own proxy is. */
export type ProxyAddress = {
  readonly isTls: boolean;
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  /** The value of `Proxy-Authorization`. */
  readonly authorization?: string;
};

/** RFC 7617 section 2 forbids them in a user and in a password. */
const CONTROL_CHARACTER = /\p{Cc}/u;

/**
 * Reads `http://user:password@host:port`, in which user and password are percent-encoded.
 * @throws an Error that names what is wrong; never the text itself, which may hold a password
 */
export function readProxyUrl(text: string): ProxyAddress {
  const url = /^https?:\/\/[^\s\\]+$/.test(text) ? URL.parse(text) : null;
  if (url === null) throw new Error('it must be http:// or https:// and a host');
  if (url.pathname !== '/' || /[?#]/.test(text)) throw new Error('it must have no path, query or fragment');
  if (url.port === '0') throw new Error('it must have a port from 1 to 65535');
  const isTls = url.protocol === 'https:';
  const port = Number(url.port) || (isTls ? 443 : 80);
  const authorization = readCredentials(url);
  return { isTls, host: withoutBrackets(url.hostname), port, ...(authorization !== undefined && { authorization }) };
}

function readCredentials({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const [user, secret] = [decode(username), decode(password)];
  // RFC 7617 section 2: the first colon ends the user.
  if (user.includes(':')) throw new Error('its user must have no colon');
  if (CONTROL_CHARACTER.test(user + secret)) throw new Error('its credentials must have no control characters');
  return `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('its credentials must be percent-encoded: % is written %25');
  }
}
