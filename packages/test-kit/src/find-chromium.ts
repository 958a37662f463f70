import { findExecutable } from './find-redis-server.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The path of Chromium, or of Chrome; undefined when the PATH has neither. */
export function findChromium(path = process.env.PATH ?? ''): string | undefined {
  return NAMES.map((name) => findExecutable(name, path)).find((file) => file !== undefined);
}
