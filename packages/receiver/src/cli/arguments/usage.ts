/** The arguments can't work. Its message says what to change. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const USAGE = `herald-receiver brings webhooks of Herald to a program on this machine, while you develop it.

  herald-receiver listen --api <origin> --key <API key> --forward-to <url> [--events <name,name>] [--secret <whsec_…>]
      Forwards the events of a workspace as they happen, signed, and shows what your program answers.
      The key needs the scope webhooks. HERALD_API and HERALD_KEY serve instead of --api and --key.

  herald-receiver trigger <event> --forward-to <url> --secret <whsec_…>
      Sends one sample of an event, made and signed on this machine.

  herald-receiver verify <file> --secret <whsec_…>
      Says whether the signatures of a saved request hold, or why not. The file has its headers, an empty line, and
      the body as it came; - reads standard input.

HERALD_SECRETS serves instead of --secret: your program may read the same variable.
`;
