import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/**
 * Starts watching the load of other programs. The result returns their share of this machine since then, 0 to 1; NaN
 * where there is no /proc. Call it only after all processes that were started meanwhile have ended: until then they
 * count as others.
 */
export function startForeignLoad(): () => number {
  const before = readTicks();
  const startedAt = performance.now();
  return () => {
    const after = readTicks();
    const availableTicks = ((performance.now() - startedAt) / 10) * cpus().length;
    return Math.max(0, after.busy - before.busy - (after.own - before.own)) / availableTicks;
  };
}

/** In units of 10 ms: the whole machine, and this process with its ended children. */
function readTicks(): { busy: number; own: number } {
  try {
    const [user = 0, nice = 0, system = 0] = (/^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1] ?? '')
      .split(' ')
      .map(Number);
    const self = readFileSync('/proc/self/stat', 'latin1');
    const fields = self.slice(self.lastIndexOf(')') + 2).split(' ');
    return {
      busy: user + nice + system,
      own: fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0),
    };
  } catch {
    return { busy: NaN, own: NaN };
  }
}
