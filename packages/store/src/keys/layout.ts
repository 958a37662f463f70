/**
 * How data is laid out within a shard. Raise it with every change that the version before can't work with. The first
 * process that starts takes the data over (`upgrade`). In layout 2 a group was a workspace and an origin. Until layout 3
 * there was `d:` before the id of a delivery, and `x:` before that of a transition, in the names of their keys.
 */
export const LAYOUT = 4;

/** The name of a connection. It tells processes of a former layout apart: their names have no layout. */
export function nameConnection(name: string): string {
  return `${name}/${LAYOUT}`;
}

/** The layout of an API's or a worker's connection, by its name; undefined for any other connection. */
export function layoutOfConnection(name: string): number | undefined {
  const [found, layout] = /^herald-(?:api|worker)[^/]*(?:\/(\d+))?$/.exec(name) ?? [];
  return found === undefined ? undefined : Number(layout ?? 1);
}
