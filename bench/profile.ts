import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Cell, Table } from './table.ts';

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
