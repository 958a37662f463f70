import { Resolver } from 'node:dns';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { z } from 'zod';
import { CommaList } from '@herald/runtime/env/env';
import { messageOfThrown } from '@herald/runtime/errors/is-error-like';
import { createAddressPolicy } from './address-policy.ts';
import { readProxyUrl } from './proxy-url.ts';

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
    const pem = readFileSync(file, 'utf8');
    createSecureContext({ ca: pem });
    return pem;
  }),
);

const DnsServers = CommaList.transform(
  reading('must be addresses of name servers', (servers) => {
    new Resolver().setServers(servers);
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
