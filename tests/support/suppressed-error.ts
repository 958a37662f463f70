/**
 * A test that fails, and then fails to clean up too. swc compiles `await using` to code that throws such an error, and forgets
 * to define it: without this, all that one would read is "_SuppressedError is not defined".
 */
class BothFailed extends Error {
  override readonly name = 'BothFailed';
  constructor(cleaningUp: unknown, cause: unknown) {
    super(`${String(cause)}\n\nand then, while cleaning up:\n${String(cleaningUp)}`, { cause });
  }
}

Object.assign(globalThis, { _SuppressedError: BothFailed });
