import { appendFileSync } from 'node:fs';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import type { Pause } from '../pauses.ts';

// Preloaded into a process: writes what stops it as lines of JSON to the file that its own url names.

const EVERY_MS = 2;
const LOOP_FROM_MS = 2;
const COLLECTION_FROM_MS = 1;
const WRITE_EVERY_MS = 500;

const file = new URL(import.meta.url).searchParams.get('file') ?? '';
let lines: string[] = [];

function note(kind: Pause['kind'], startedAt: number, ms: number): void {
  const pause: Pause = { kind, at: performance.timeOrigin + startedAt, ms };
  lines.push(`${JSON.stringify(pause)}\n`);
}

function write(): void {
  if (lines.length > 0) appendFileSync(file, lines.join(''));
  lines = [];
}

new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    const { startTime, duration } = entry;
    // Its type knows the details of marks only.
    const { kind } = (entry as unknown as { detail: { kind: number } }).detail;
    if (duration < COLLECTION_FROM_MS) continue;
    note(kind === constants.NODE_PERFORMANCE_GC_MINOR ? 'quick collection' : 'full collection', startTime, duration);
  }
}).observe({ entryTypes: ['gc'] });

let turnedAt = performance.now();
setInterval(() => {
  const now = performance.now();
  if (now - turnedAt >= LOOP_FROM_MS + EVERY_MS) note('event loop', turnedAt + EVERY_MS, now - turnedAt - EVERY_MS);
  turnedAt = now;
}, EVERY_MS).unref();
setInterval(write, WRITE_EVERY_MS).unref();
process.on('exit', write);
