export interface StopRequest {
  /** Resolves with the reason of the first request to stop. */
  requested: Promise<string>;
  /** From now on a request means an orderly stop; before, it ends us at once, and our processes with us. */
  heraldIsUp(): void;
}

// A Ctrl-C comes twice under npm: from the terminal, and passed on by npm. Only a later one is a second wish.
const ECHO_MS = 1_000;
const INTERRUPTED = 130;

/** Ctrl-C, SIGTERM, a closed terminal, and under npm also the death of npm, which otherwise would leave us behind. */
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
