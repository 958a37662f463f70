export interface StopRequest {
  /** Resolves with the reason of the first request to stop. */
  requested: Promise<string>;
  /** Makes a request mean an orderly stop. Before, it ends this process and its children at once. */
  heraldIsUp(): void;
}

// Under npm a Ctrl-C arrives twice: from the terminal, and from npm. Only a later one counts as a second request.
const ECHO_MS = 1_000;
const INTERRUPTED = 130;

/** Listens for Ctrl-C, SIGTERM, a closed terminal, and under npm also for the end of npm. */
export function listenForStop(env: NodeJS.ProcessEnv): StopRequest {
  const { promise: requested, resolve } = Promise.withResolvers<string>();
  let isUp = false;
  let firstAt: number | undefined;
  const request = (why: string) => {
    if (!isUp) process.exit(INTERRUPTED);
    if (firstAt === undefined) {
      firstAt = performance.now();
      resolve(why);
    } else if (performance.now() - firstAt > ECHO_MS) {
      console.error('Killed.');
      process.exit(INTERRUPTED);
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      request(signal === 'SIGINT' ? 'Ctrl-C (once more kills)' : signal);
    });
  }
  if (env.npm_lifecycle_event !== undefined) {
    const parent = process.ppid;
    setInterval(() => {
      if (process.ppid !== parent && firstAt === undefined) request('npm is gone');
    }, 500).unref();
  }
  return {
    requested,
    heraldIsUp() {
      isUp = true;
    },
  };
}
