import { ID_PATTERNS } from '@herald/core';

const { receiver, task, delivery, replay, portal_link: portalLink } = ID_PATTERNS;
const KNOWN = [/^[a-z-]{0,16}$/, receiver, task, delivery, replay, portalLink];

/** The path of a request for the log: words, Herald's ids, and `*` for all else, which may be a misplaced secret. */
export function pathForLog(originalUrl: string): string {
  const path = originalUrl.split('?', 1)[0] ?? '';
  const segments = path.slice(0, 200).split('/');
  return segments.map((segment) => (KNOWN.some((pattern) => pattern.test(segment)) ? segment : '*')).join('/');
}
