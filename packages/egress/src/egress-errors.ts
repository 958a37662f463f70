/** The destination has an address that we don't dial. */
export class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError';
  readonly code = 'ERR_ADDRESS_BLOCKED';
}

/** The destination's name gave no address. `cause` is the resolver's error, if it had one. */
export class LookupFailedError extends Error {
  override readonly name = 'LookupFailedError';
  readonly code = 'ERR_LOOKUP_FAILED';
}
