import { readFileSync } from 'node:fs';

/** USER_HZ, which is always 100 on Linux. */
const TICK_MS = 10;

/** CPU time of a process with all its threads, user and system, in ms. NaN where there is no /proc. */
export function readCpuMs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the command in brackets, which may contain blanks. The field after it is the third.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return NaN;
  }
}

export type CpuReading<Name extends string> = Readonly<Record<Name, number>>;

/** Starts a reading of several processes; the result returns the CPU time of each since then, in ms. */
export function startCpuReading<Name extends string>(pids: Readonly<Record<Name, number>>): () => CpuReading<Name> {
  const read = () => mapValues(pids, readCpuMs);
  const before = read();
  return () => {
    const after = read();
    return mapValues(pids, (_, name) => after[name] - before[name]);
  };
}

function mapValues<Name extends string>(
  source: Readonly<Record<Name, number>>,
  map: (value: number, name: Name) => number,
): Record<Name, number> {
  const entries = (Object.keys(source) as Name[]).map((name) => [name, map(source[name], name)]);
  return Object.fromEntries(entries) as Record<Name, number>;
}
