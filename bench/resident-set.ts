import { readFileSync } from 'node:fs';

/** Resident memory of a process (VmRSS), in MiB. NaN where there is no /proc. */
export function readResidentMiB(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1_024;
  } catch {
    return NaN;
  }
}
