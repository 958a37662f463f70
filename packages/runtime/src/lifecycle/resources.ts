type Release = () => Promise<void> | void;

/** Acquired things, and how each is released. */
export function createResources(onFailure: (name: string, error: unknown) => void) {
  const releases: { readonly name: string; readonly release: Release }[] = [];
  return {
    /** Registers the release of something just acquired. */
    add: (name: string, release: Release): void => {
      releases.push({ name, release });
    },
    /** Releases everything, newest first, even when one release fails. May be called twice. */
    release: async (): Promise<void> => {
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
export type Resources = ReturnType<typeof createResources>;
