/** The size of a test: small enough for every commit, or, under `npm run test:soak`, large enough to find what is rare. */
export function sized<T>(usual: T, soak: T): T {
  return process.env.HERALD_SOAK === '1' ? soak : usual;
}
