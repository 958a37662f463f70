import { Resolver } from 'node:dns';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { z } from 'zod';
import { CommaList } from '@herald/runtime/env/env';
import { messageOfThrown } from '@herald/runtime/errors/is-error-like';
import { createAddressPolicy } from './address-policy.ts';

/** Turns what a check throws into a problem of the variable. */
function refuses(check: () => unknown, context: z.RefinementCtx, hint: string): boolean {
  try {
    check();
    return false;
  } catch (error) {
    context.addIssue({ code: 'custom', message: `${hint}: ${messageOfThrown(error)}` });
    return true;
  }
}

const AllowCidrs = CommaList.superRefine((allowCidrs, context) => {
  refuses(() => createAddressPolicy({ allowCidrs }), context, 'must be address ranges');
});

/** A PEM file; what is read is its content. */
const CaFile = z.string().transform((file, context) => {
  let pem = '';
  const isRefused = refuses(
    () => {
      pem = readFileSync(file, 'utf8');
      createSecureContext({ ca: pem });
    },
    context,
    'must be a file with certificates in PEM',
  );
  return isRefused ? z.NEVER : pem;
});

const DnsServers = CommaList.superRefine((servers, context) => {
  refuses(
    () => {
      new Resolver().setServers(servers);
    },
    context,
    'must be addresses of name servers',
  );
});

/** What registration goes by. */
export const DestinationEnv = z.object({ EGRESS_ALLOW_CIDRS: AllowCidrs.default([]) });

/** What every outbound connection goes by. */
export const EgressEnv = z.object({
  ...DestinationEnv.shape,
  EGRESS_CA_FILE: CaFile.optional(),
  EGRESS_DNS_SERVERS: DnsServers.default([]),
});
