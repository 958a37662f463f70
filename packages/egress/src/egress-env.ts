import { Resolver } from 'node:dns';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { CommaList } from '@herald/runtime/env';
import { messageOfThrown } from '@herald/runtime/errors';
import { z } from 'zod';
import { createAddressPolicy } from './address-policy.ts';
import { checkPem } from './create-trust.ts';
import { withoutBrackets } from './judge-url-host.ts';

/** A transform that turns an error thrown by `read` into a problem of the variable, after a hint. */
function reading<In, Out>(hint: string, read: (value: In) => Out) {
  return (value: In, context: z.RefinementCtx): Out => {
    try {
      return read(value);
    } catch (error) {
      context.addIssue({ code: 'custom', message: `${hint}: ${messageOfThrown(error)}` });
      return z.NEVER;
    }
  };
}

const Cidrs = CommaList.transform(
  reading('must be address ranges', (cidrs) => {
    createAddressPolicy({ allowCidrs: cidrs });
    return cidrs;
  }),
);

/** A PEM file; its value is the content. */
const CaFile = z.string().transform(
  reading('must be a file with certificates in PEM', (file) => {
    const pem = checkPem(readFileSync(file, 'utf8'));
    createSecureContext({ ca: pem });
    return pem;
  }),
);

const DnsServers = CommaList.transform(
  reading('must be addresses of name servers', (servers) => {
    new Resolver().setServers(servers);
    // c-ares takes it for the usual one, and not in every version of Node.
    if (servers.some((server) => isIP(server) === 0 && server.endsWith(':0'))) throw new Error('their port is not 0');
    return servers;
  }),
);

const ProxyUrl = z
  .string()
  .transform(
    reading('must be the address of a proxy, such as http://user:password@proxy.example.com:3128', readProxyUrl),
  );

/** Decides which urls registration accepts. */
export const DestinationEnv = z.object({
  EGRESS_ALLOW_CIDRS: Cidrs.default([]),
  EGRESS_DENY_CIDRS: Cidrs.default([]),
});

/** Decides how every outbound connection is made. */
export const EgressEnv = z.object({
  ...DestinationEnv.shape,
  EGRESS_CA_FILE: CaFile.optional(),
  EGRESS_DNS: z.enum(['servers', 'system']).default('servers'),
  EGRESS_DNS_SERVERS: DnsServers.default([]),
  EGRESS_PROXY_URL: ProxyUrl.optional(),
});

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
