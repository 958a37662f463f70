import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { closeRedis, connectRedis, type RedisClient } from '@herald/store/redis/connect-redis';
import type { Cell, Table } from './table.ts';

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

/** Resident memory of a process (VmRSS), in MiB. NaN where there is no /proc. */
export function readResidentMiB(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1_024;
  } catch {
    return NaN;
  }
}

type KindOfKey = { readonly keys: number; readonly bytes: number };
export type RedisMemory = {
  /** Memory that Redis has allocated, without the buffers of its connections and its file. */
  readonly usedBytes: number;
  /** MEMORY USAGE by kind of key. */
  readonly kinds: ReadonlyMap<string, KindOfKey>;
};

const PAGE = 1_000;

/** Looks at every key: only for a Redis that nothing else uses. */
export async function readRedisMemory(url: string): Promise<RedisMemory> {
  const redis = await connectRedis({
    target: { kind: 'single', url },
    use: 'background',
    name: 'herald-bench',
    onError: () => undefined,
  });
  try {
    const kinds = new Map<string, KindOfKey>();
    let cursor = '0';
    do {
      const [next, names] = await redis.scan(cursor, 'COUNT', PAGE);
      const sizes = await Promise.all(names.map((name) => redis.call('MEMORY', 'USAGE', name, 'SAMPLES', '0')));
      names.forEach((name, index) => {
        const { keys, bytes } = kinds.get(kindOf(name)) ?? { keys: 0, bytes: 0 };
        kinds.set(kindOf(name), { keys: keys + 1, bytes: bytes + Number(sizes[index]) });
      });
      cursor = next;
    } while (cursor !== '0');
    return { usedBytes: await readUsedBytes(redis), kinds };
  } finally {
    await closeRedis(redis);
  }
}

/** Without the buffers of its connections and its file. */
export async function readUsedBytes(redis: RedisClient): Promise<number> {
  const info = await redis.info('memory');
  const read = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
  return read('used_memory') - read('mem_clients_normal') - read('mem_aof_buffer');
}

function kindOf(name: string): string {
  const key = name.replace(/^\{[^}]*\}:/, '');
  const [, kind = key] = /^[dx]:((?:dlv|trn)_.*)$/.exec(key) ?? []; // in a build before ids alone were names
  if (/^dlv_.*:a$/.test(kind)) return "delivery's attempts (<id>:a)";
  if (kind.startsWith('dlv_')) return 'delivery (dlv_…)';
  if (key.startsWith('q:')) return 'waiting in a group (q:<group>)';
  if (key.startsWith('g:')) return 'group (g:<group>)';
  if (kind.startsWith('trn_')) return 'transition with its body (trn_…)';
  if (/^e:.*:log(:|$)/.test(key)) return "endpoint's log (e:<id>:log, and its segments)";
  if (/^t:.*:facts$/.test(key)) return "Task's facts (t:<id>:facts)";
  if (key.startsWith('o:')) return 'order of a Task (o:<endpoint>:<task>)';
  if (key.startsWith('t:')) return 'Task (t:<id>)';
  if (/^(ready|wake):|^later$|^leases$|^queue$/.test(key)) return 'queue (ready, later, leases)';
  // Keys of a build before the queue of groups, measured for comparison.
  if (key.startsWith('deliveries:dlv_')) return 'job (deliveries:<id>)';
  if (key === 'deliveries:wait' || key === 'owed' || key === 'open')
    return 'pending work (deliveries:wait, open, owed)';
  return 'others';
}

export type ProfiledProcess = {
  readonly name: 'api' | 'worker';
  readonly scenario: string;
  /** Deliveries or transitions of the profiled run. */
  readonly items: number;
};

type CpuProfile = {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
};
type ProfileNode = { readonly id: number; readonly callFrame: CallFrame; readonly children?: readonly number[] };
type CallFrame = {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
};

const PACKAGES_SHOWN = 20;
const FUNCTIONS_SHOWN = 30;
/** Node's own code, JavaScript and native. */
const PLATFORM = new Set(['node', 'native']);
const EVENT_LOOP = 'node, for no package';

function folderOf(name: string, scenario: string): string {
  return join(import.meta.dirname, 'results', `profile-${name}-${scenario}`);
}

/** Makes Node write a CPU profile at a regular exit, such as after SIGTERM. */
export async function profilerArgs(name: string, scenario: string): Promise<string[]> {
  const folder = folderOf(name, scenario);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  return ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}

/**
 * CPU time of a process by package: first only its own functions, then with Node's work for them (attributed to the
 * nearest caller outside Node); and the functions with the most time of their own. Idle time is left out.
 */
export async function profileTable({ name, scenario, items }: ProfiledProcess): Promise<Table> {
  const folder = folderOf(name, scenario);
  const file = (await readdir(folder)).find((entry) => entry.endsWith('.cpuprofile'));
  if (file === undefined) throw new Error(`${name} wrote no profile to ${folder}`);
  const profile = await withSources(JSON.parse(await readFile(join(folder, file), 'utf8')) as CpuProfile);
  const onBehalf = new Map<string, number>();
  const byPackage = new Map<string, number>();
  const byFunction = new Map<string, number>();
  let busyUs = 0;
  for (const { frame, client, us } of readSelfTimes(profile)) {
    const owner = ownerOf(frame);
    const place = `${owner} ${frame.url.split('/').at(-1) ?? ''}:${frame.lineNumber + 1}`;
    busyUs += us;
    increase(byPackage, owner, us);
    increase(onBehalf, client, us);
    increase(byFunction, `  ${frame.functionName || '(anonymous)'}  ${place}`, us);
  }
  const packages = [...new Set([...onBehalf.keys(), ...byPackage.keys()])].sort(
    (a, b) => (onBehalf.get(b) ?? 0) - (onBehalf.get(a) ?? 0),
  );
  const functions = [...byFunction].sort(([, a], [, b]) => b - a);
  return {
    title: `Profile of the ${name} during ${scenario}: ${Math.round(busyUs / 1_000)} ms busy, its start included`,
    columns: [`µs per item of ${items}`, 'self', 'share', 'with Node for it', 'share'],
    rows: [
      ...packages.slice(0, PACKAGES_SHOWN).map((label): Cell[] => {
        const [self = 0, all = 0] = [byPackage.get(label), onBehalf.get(label)];
        return [label, self / items, percent(self / busyUs), all / items, percent(all / busyUs)];
      }),
      ...functions
        .slice(0, FUNCTIONS_SHOWN)
        .map(([label, us]): Cell[] => [label, us / items, percent(us / busyUs), '', '']),
    ],
    notes: [join(folder, file)],
  };
}

/** The same profile with the files of which the programs were bundled. */
async function withSources(profile: CpuProfile): Promise<CpuProfile> {
  const maps = new Map<string, SourceMap | undefined>();
  const mapOf = async (url: string) => {
    const path = url.startsWith('file:') ? `${fileURLToPath(url)}.map` : '';
    if (!existsSync(path)) return undefined;
    return new SourceMap(JSON.parse(await readFile(path, 'utf8')) as SourceMapPayload);
  };
  for (const url of new Set(profile.nodes.map(({ callFrame }) => callFrame.url))) maps.set(url, await mapOf(url));
  const nodes = profile.nodes.map((node) => {
    const { url, lineNumber, columnNumber } = node.callFrame;
    const found = maps.get(url)?.findEntry(lineNumber, columnNumber);
    if (!found || !('originalSource' in found)) return node;
    const source = new URL(found.originalSource, url).href;
    return { ...node, callFrame: { ...node.callFrame, url: source, lineNumber: found.originalLine } };
  });
  return { ...profile, nodes };
}

type SelfTime = { readonly frame: CallFrame; readonly client: string; readonly us: number };

function readSelfTimes({ nodes, samples, timeDeltas }: CpuProfile): SelfTime[] {
  const nodeOf = new Map(nodes.map((node) => [node.id, node]));
  const parentOf = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)));
  const clientOf = (node: ProfileNode | undefined): string => {
    if (!node || node.callFrame.functionName === '(root)') return EVENT_LOOP;
    const owner = ownerOf(node.callFrame);
    return PLATFORM.has(owner) ? clientOf(parentOf.get(node.id)) : owner;
  };
  const times = new Map<ProfileNode, number>();
  samples.forEach((id, index) => {
    const node = nodeOf.get(id);
    if (node && node.callFrame.functionName !== '(idle)') increase(times, node, timeDeltas[index] ?? 0);
  });
  return [...times].map(([node, us]) => ({ frame: node.callFrame, client: clientOf(node), us }));
}

function increase<Key>(sums: Map<Key, number>, key: Key, by: number): void {
  sums.set(key, (sums.get(key) ?? 0) + by);
}

function ownerOf({ url, functionName }: CallFrame): string {
  if (url.startsWith('node:')) return 'node';
  const dependency = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
  if (dependency !== undefined) return dependency;
  if (/\/(apps|packages)\//.test(url)) return 'herald';
  return functionName.startsWith('(') ? functionName : 'native';
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
