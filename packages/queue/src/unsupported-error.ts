/** BullMQ asked for something that this queue doesn't have, such as flows or job schedulers. */
export class UnsupportedError extends Error {
  override readonly name = 'UnsupportedError';
  constructor(what: string) {
    super(`this queue has no ${what}`);
  }
}
