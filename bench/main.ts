import { join } from 'node:path';
import { type BenchOptions, guessMinutes, readOptions, type ScenarioName, USAGE } from './options.ts';
import { describeMachine, formatMinutes, runScenarios, type Scenario, writeResults } from './run-scenarios.ts';
import { accept } from './scenarios/accept.ts';
import { drain, through } from './scenarios/drain.ts';
import { history, historyLoad } from './scenarios/history.ts';
import { isolation } from './scenarios/isolation.ts';
import { latency } from './scenarios/latency.ts';
import { memory } from './scenarios/memory.ts';
import { formatTable } from './table.ts';
import { targetsTable } from './targets.ts';

const SCENARIOS: Record<ScenarioName, Scenario> = {
  drain,
  accept,
  through,
  latency,
  memory,
  isolation,
  history,
  'history-load': historyLoad,
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
console.log(
  `Takes about ${formatMinutes(guessMinutes(options.scenarios, options.isQuick) * options.builds.length)} on two cores of its own.`,
);
const run = await runScenarios(SCENARIOS, options, (text) => {
  console.log(text);
});
const targets = targetsTable(run, options.isQuick);
if (targets.rows.length > 0) console.log(`\n${formatTable(targets)}`);
const results = { options, ...run, tables: [...run.tables, targets] };
const file = await writeResults(join(import.meta.dirname, 'results'), results);
console.log(`Written to ${file}`);
if (run.outcomes.some((outcome) => 'error' in outcome)) process.exitCode = 1;
