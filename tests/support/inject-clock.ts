import { readFileSync } from 'node:fs';

/**
 * Loaded into a process before anything else (`--import`): its `Date` follows the file that HERALD_TEST_CLOCK names, as under libfaketime:
 * `+3600 x1.05` is an hour ahead, and faster by a twentieth.
 */
const LOOK_EVERY_MS = 100;
const RealDate = globalThis.Date;
const { HERALD_TEST_CLOCK: file = '' } = process.env;
const startedAt = RealDate.now();
let offsetMs = 0;
let rate = 1;
let lookAt = 0;

function now(): number {
  if (performance.now() >= lookAt) {
    lookAt = performance.now() + LOOK_EVERY_MS;
    const [, seconds = '0', factor = '1'] = /^([+-][\d.]+)(?: x([\d.]+))?/.exec(readFileSync(file, 'utf8')) ?? [];
    offsetMs = Number(seconds) * 1_000;
    rate = Number(factor);
  }
  return Math.floor(startedAt + (RealDate.now() - startedAt) * rate + offsetMs);
}

globalThis.Date = new Proxy(RealDate, {
  construct: (target, parameters: unknown[], newTarget) =>
    Reflect.construct(target, parameters.length === 0 ? [now()] : parameters, newTarget) as object,
  get: (target, name, receiver) => (name === 'now' ? now : (Reflect.get(target, name, receiver) as unknown)),
});
