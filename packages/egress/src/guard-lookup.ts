import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { canonicalAddress, type AddressPolicy } from './address-policy.ts';
import { BlockedAddressError, LookupFailedError } from './egress-errors.ts';

export interface GuardLookupDeps {
  policy: AddressPolicy;
  lookup: LookupFunction;
  /** Told every address that is handed on, before it is dialled. */
  onChecked: (canonicalAddress: string) => void;
}

/**
 * A look-up for one connection that fails unless *every* address of the name is allowed: a name that mixes public and
 * private addresses is an attack or a mistake, and picking the public one would leave the choice to whoever orders them.
 */
export function guardLookup({ policy, lookup, onChecked }: GuardLookupDeps): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) {
        callback(new LookupFailedError(`${hostname}: ${error.message}`, { cause: error }), []);
        return;
      }
      const addresses = typeof found === 'string' ? [{ address: found, family: isIP(found) }] : found;
      const [first] = addresses;
      if (first === undefined) {
        callback(new LookupFailedError(`${hostname} has no address`), []);
        return;
      }
      const refused = addresses.find(({ address }) => !policy.isAllowed(address));
      if (refused !== undefined) {
        callback(new BlockedAddressError(`${hostname} has the address ${refused.address}`), []);
        return;
      }
      for (const { address } of addresses) onChecked(canonicalAddress(address) ?? address);
      handOn(addresses, first);
    });

    function handOn(addresses: LookupAddress[], first: LookupAddress): void {
      if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    }
  };
}
