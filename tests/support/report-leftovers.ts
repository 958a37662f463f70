import { writeFileSync } from 'node:fs';
import { trackHandles, type Handle } from './track-handles.ts';

/**
 * Loaded into a process before anything else (`--import`): when the process ends by its own will, it writes to the file
 * that HERALD_TEST_LEFTOVERS names what has begun and not ended. It waits a moment before, in which what was closed ends.
 */
const MOMENT_MS = 100;
const { HERALD_TEST_LEFTOVERS: file = '' } = process.env;
const tracker = trackHandles();
// The programs are bundles.
process.setSourceMapsEnabled(true);
const exit = process.exit.bind(process);

/** What goes on after the end, though nobody waits for it. */
let underWay: readonly Handle[] = [];

/** Its own wait is none of the process. */
const isOwn = ({ what }: Handle) => what.includes('report-leftovers');
const report = (): void => {
  const left = tracker.find().filter((handle) => handle.type !== 'PROMISE' && !isOwn(handle));
  writeFileSync(file, JSON.stringify([...underWay, ...left]));
};
process.exit = ((code?: number) => {
  underWay = tracker.findUnderWay();
  setTimeout(() => exit(code), MOMENT_MS);
}) as typeof process.exit;
process.on('exit', report);
