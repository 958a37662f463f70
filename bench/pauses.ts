import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { waitFor } from '@herald/test-kit';
import { startProgram } from './start-receivers.ts';
import type { Cell, Table } from './table.ts';

/** Something stood still. */
export type Pause = {
  readonly kind: 'quick collection' | 'full collection' | 'event loop' | 'no answer';
  /** Its beginning, epoch ms. */
  readonly at: number;
  readonly ms: number;
};

/** From the 2xx to the arrival, epoch ms. */
export type Span = { readonly from: number; readonly to: number };

const PROCESSES = ['API', 'worker', 'receivers'] as const;
export type TracedProcess = (typeof PROCESSES)[number];
const REDIS = 'Redis';

export type PauseTrace = AsyncDisposable & {
  /** Options of Node for a process. */
  readonly nodeArgs: (name: TracedProcess) => readonly string[];
  /** What stood still, by process. */
  readonly read: () => Promise<ReadonlyMap<string, readonly Pause[]>>;
};

/** Notes on one line of time when processes and Redis stand still. It costs each process some of its time. */
export async function startPauseTrace(redisUrl: string): Promise<PauseTrace> {
  const folder = await mkdtemp(join(tmpdir(), 'herald-bench-pauses-'));
  const fileOf = (name: string) => join(folder, `${name}.ndjson`);
  let isReady = false;
  const pinging = await startProgram('ping-redis', { url: redisUrl, file: fileOf(REDIS) }, () => {
    isReady = true;
  });
  await waitFor('the connection to Redis', () => isReady);
  return {
    nodeArgs: (name) => {
      const program = pathToFileURL(join(import.meta.dirname, 'programs/trace-pauses.ts'));
      program.searchParams.set('file', fileOf(name));
      return ['--import', program.href];
    },
    read: async () => {
      const names = [...PROCESSES, REDIS];
      return new Map(await Promise.all(names.map(async (name) => [name, await readPauses(fileOf(name))] as const)));
    },
    async [Symbol.asyncDispose]() {
      await pinging[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function readPauses(file: string): Promise<Pause[]> {
  // Without a pause there is no file.
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Pause);
}

/** A pause explains a late delivery when it takes so much of what it is later than usual. */
const EXPLAINS_FROM = 0.5;
const UNEXPLAINED = 'nothing of these';

/**
 * What the slowest hundredth waited for. Each delivery counts for the pause that overlaps it most.
 * @param spans of all deliveries
 */
export function explainLate(
  title: string,
  spans: readonly Span[],
  pauses: ReadonlyMap<string, readonly Pause[]>,
): Table {
  const byLength = spans.toSorted((a, b) => lengthOf(a) - lengthOf(b));
  const usual = lengthOf(byLength[Math.floor(byLength.length / 2)] ?? { from: 0, to: 0 });
  const late = byLength.slice(Math.floor(byLength.length * 0.99));
  const sources = [...pauses].flatMap(([process, all]) =>
    [...Map.groupBy(all, ({ kind }) => kind)].map(([kind, of]) => ({ name: `${process}: ${kind}`, process, kind, of })),
  );
  const collectionsOf = (process: string) =>
    (pauses.get(process) ?? []).filter(({ kind }) => kind.endsWith('collection'));
  const count = new Map<string, { late: number; ms: number }>();
  for (const span of late) {
    const found = sources.map(({ name, process, kind, of }) => {
      const overlap = overlapOf(span, of);
      // A loop stands still during a collection too.
      return { name, ms: kind === 'event loop' ? overlap - overlapOf(span, collectionsOf(process)) : overlap };
    });
    const [longest] = found.toSorted((a, b) => b.ms - a.ms);
    const isEnough = longest !== undefined && longest.ms >= EXPLAINS_FROM * (lengthOf(span) - usual);
    const name = isEnough ? longest.name : UNEXPLAINED;
    const known = count.get(name) ?? { late: 0, ms: 0 };
    count.set(name, { late: known.late + 1, ms: known.ms + (isEnough ? longest.ms : 0) });
  }
  const pausesOf = (name: string) => sources.find((source) => source.name === name)?.of ?? [];
  const rows = [...count]
    .toSorted(([, a], [, b]) => b.late - a.late)
    .map(([name, of]): Cell[] => {
      const all = pausesOf(name);
      const sum = all.reduce((total, { ms }) => total + ms, 0);
      const share = `${Math.round((100 * of.late) / late.length)} %`;
      return [
        name,
        share,
        of.ms / of.late,
        all.length,
        sum / all.length,
        all.length === 0 ? NaN : Math.max(...all.map(({ ms }) => ms)),
      ];
    });
  return {
    title,
    columns: ['stood still', 'of the slowest hundredth', 'of it, ms', 'pauses', 'mean ms', 'longest ms'],
    rows,
    notes: [
      `${spans.length} deliveries; p50 ${usual.toFixed(2)} ms, the slowest hundredth from ${lengthOf(late[0] ?? { from: 0, to: 0 }).toFixed(1)} ms.`,
      'Event loop: it stood still, and no collection was the reason; that is code, or other processes had the processor. Redis: nothing answered a PING for 2 ms and more.',
    ],
  };
}

const lengthOf = ({ from, to }: Span): number => to - from;

function overlapOf({ from, to }: Span, pauses: readonly Pause[]): number {
  return pauses.reduce((sum, { at, ms }) => sum + Math.max(0, Math.min(to, at + ms) - Math.max(from, at)), 0);
}
