import { ID_PATTERNS } from '@herald/core';

const { receiver, task, delivery, replay } = ID_PATTERNS;
const KNOWN = [/^[a-z]{0,16}$/, receiver, task, delivery, replay];

/**
 * A request's path as the log may have it: words and our own ids, anything else as `*`, and no query. People put keys and
 * secrets in paths by mistake, and a log is no place to find them.
 */
export function pathForLog(originalUrl: string): string {
  const path = originalUrl.split('?', 1)[0] ?? '';
  const segments = path.slice(0, 200).split('/');
  return segments.map((segment) => (KNOWN.some((pattern) => pattern.test(segment)) ? segment : '*')).join('/');
}
