/** Things that were acquired and must be released, newest first. */
export type Resources = {
  /** Registers the release of something just acquired. */
  readonly add: (name: string, release: () => Promise<void> | void) => void;
  /** Releases everything, in reverse order, all of it even when one release fails. May be called twice. */
  readonly release: () => Promise<void>;
};

export function createResources(onFailure: (name: string, error: unknown) => void): Resources {
  const releases: { name: string; release: () => Promise<void> | void }[] = [];
  return {
    add: (name, release) => {
      releases.push({ name, release });
    },
    release: async () => {
      for (let next = releases.pop(); next; next = releases.pop()) {
        try {
          await next.release();
        } catch (error) {
          onFailure(next.name, error);
        }
      }
    },
  };
}
