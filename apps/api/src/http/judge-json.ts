import type { InputProblem } from '@herald/core';

const DEPTH_LIMIT = 64;

/** Finds the problem of a JSON value that no operation accepts. */
export function judgeJson(value: unknown): InputProblem | undefined {
  const found = findProblem(value, DEPTH_LIMIT);
  return found && { path: found.path.reverse().join('.'), message: found.message };
}

/** Returns the path innermost first. It is built on the way back, so that a value without problems costs nothing. */
function findProblem(value: unknown, levels: number): { path: string[]; message: string } | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === 0) return { path: [], message: `is nested deeper than ${DEPTH_LIMIT} levels` };
  // Libraries drop this name for safety. Herald never drops a field silently.
  if (Object.hasOwn(value, '__proto__')) {
    return { path: ['__proto__'], message: 'must not be used as the name of a field' };
  }
  for (const [index, item] of Object.values(value).entries()) {
    const found = findProblem(item, levels - 1);
    if (found) {
      found.path.push((Object.keys(value)[index] ?? '').slice(0, 64));
      return found;
    }
  }
  return undefined;
}
