import { isIP, type LookupFunction } from 'node:net';
import { canonicalAddress, type AddressPolicy } from './address-policy.ts';
import { BlockedAddressError, LookupFailedError } from './egress-errors.ts';

/**
 * A look-up for one connection that fails unless *every* address of the name is allowed. A name that mixes public and
 * private addresses is an attack or a mistake, and the order of its addresses must not decide which one is dialled.
 * @param onChecked gets every address that is passed on, before it is dialled
 */
export function guardLookup(
  policy: AddressPolicy,
  lookup: LookupFunction,
  onChecked: (canonicalAddress: string) => void,
): LookupFunction {
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
      if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

/** The addresses that a guarded look-up lets pass. */
export function findAddresses(hostname: string, lookup: LookupFunction): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    lookup(hostname, { all: true }, (error, found) => {
      if (error) reject(error);
      else resolve(typeof found === 'string' ? [found] : found.map(({ address }) => address));
    });
  });
}
