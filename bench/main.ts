import { join } from 'node:path';
import { startForeignLoad } from './foreign-load.ts';
import { readOptions, SCENARIO_NAMES, USAGE, type BenchOptions, type ScenarioName } from './read-options.ts';
import type { Scenario } from './scenario.ts';
import { accept } from './scenarios/accept.ts';
import { drain } from './scenarios/drain.ts';
import { floor } from './scenarios/floor.ts';
import { growth } from './scenarios/growth.ts';
import { isolation } from './scenarios/isolation.ts';
import { latency } from './scenarios/latency.ts';
import { memory } from './scenarios/memory.ts';
import { slowClients } from './scenarios/slow-clients.ts';
import { through } from './scenarios/through.ts';
import { formatTable, type Table } from './table.ts';
import { describeMachine, writeResults } from './write-results.ts';

const SCENARIOS: Record<ScenarioName, Scenario> = {
  floor,
  drain,
  accept,
  through,
  latency,
  memory,
  growth,
  isolation,
  'slow-clients': slowClients,
};

function readCommandLine(): BenchOptions {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    console.log(USAGE);
    process.exit(0);
  }
  try {
    return readOptions(args);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

const options = readCommandLine();
const { cpus, model, memoryGiB, node } = describeMachine();
console.log(`${cpus} × ${model}, ${memoryGiB} GiB, Node ${node}; everything on this machine, over loopback`);
const say = (line: string) => {
  console.log(`… ${line}`);
};
const tables: Table[] = [];
const raw: Partial<Record<ScenarioName, unknown>> = {};
// A drain measures the floor between its own rounds and shows it.
const isShown = (name: ScenarioName) =>
  options.scenarios.includes(name) && !(name === 'floor' && options.scenarios.includes('drain'));
for (const name of SCENARIO_NAMES.filter(isShown)) {
  const foreignLoad = startForeignLoad();
  const result = await SCENARIOS[name]({ options, say });
  const foreign = foreignLoad();
  for (const table of result.tables) console.log(formatTable(table));
  tables.push(...result.tables);
  console.log(`Meanwhile other programs used ${Math.round(foreign * 100)} % of this machine's processors.`);
  raw[name] = { foreign, ...result.raw };
}
const file = await writeResults(join(import.meta.dirname, 'results'), { options, tables, raw });
console.log(`Written to ${file}`);
