/** The destination has an address that the policy doesn't allow. */
export class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError';
  readonly code = 'ERR_ADDRESS_BLOCKED';
}

/** The destination's name has no address. `cause` is the resolver's error, if there was one. */
export class LookupFailedError extends Error {
  override readonly name = 'LookupFailedError';
  readonly code = 'ERR_LOOKUP_FAILED';
}
