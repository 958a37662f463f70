import { writeFileSync } from 'node:fs';
import { trackHandles, type Handle } from './track-handles.ts';

/**
 * Loaded into a process before anything else (`--import`): when the process ends by its own will, it writes to the file
 * that HERALD_TEST_LEFTOVERS names what has begun and not ended. It waits a moment before, in which what was closed ends.
 */
const MOMENT_MS = 100;
const { HERALD_TEST_LEFTOVERS: file = '' } = process.env;
const tracker = trackHandles();
const exit = process.exit.bind(process);

/** Its own wait is none of the process. */
const isOwn = ({ what }: Handle) => what.includes('report-leftovers');
const report = (): void => {
  writeFileSync(file, JSON.stringify(tracker.find().filter((handle) => !isOwn(handle))));
};
process.exit = ((code?: number) => {
  setTimeout(() => exit(code), MOMENT_MS);
}) as typeof process.exit;
process.on('exit', report);
