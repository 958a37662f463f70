/**
 * How data lies within a shard. Raised with every change that a process of the version before couldn't work with; data of a former layout is
 * taken over by the first process that starts (upgrade). 1, which was never recorded: BullMQ's lists beside backlogs.
 */
export const LAYOUT = 2;

/** What a connection calls itself, so that processes of a former layout are known by theirs, which say none. */
export function nameConnection(name: string): string {
  return `${name}/${LAYOUT}`;
}

/** Of an API's or a worker's connection by its name; undefined for any other. */
export function layoutOfConnection(name: string): number | undefined {
  const [found, layout] = /^herald-(?:api|worker)[^/]*(?:\/(\d+))?$/.exec(name) ?? [];
  return found === undefined ? undefined : Number(layout ?? 1);
}
