import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { createPlan, describeAction } from './plan.ts';
import { readOptions, USAGE, type ChaosOptions } from './read-options.ts';
import { formatReport, writeReport } from './report.ts';
import { runChaos, type Outcome } from './run-chaos.ts';
import { chooseScenario } from './scenario.ts';
import { assertFaultsArePossible } from './server-faults.ts';
import { formatSummary, writeSummary } from './summary.ts';

const RESULTS = join(import.meta.dirname, 'results');

function readCommandLine(): ChaosOptions {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    console.log(USAGE);
    process.exit(0);
  }
  try {
    const options = readOptions(args, randomInt(1_000_000));
    assertFaultsArePossible();
    return options;
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

const { seeds, seconds, topology, plan } = readCommandLine();
const outcomes: Outcome[] = [];
for (const seed of seeds) {
  const scenario = chooseScenario(seed, topology);
  console.log(`Seed ${seed}`);
  if (plan) {
    for (const action of createPlan(seed, seconds, scenario)) console.log(describeAction(action));
    continue;
  }
  const { outcome, logs } = await runChaos({ seed, seconds, scenario }, (line) => {
    console.log(`… ${line}`);
  });
  outcomes.push(outcome);
  console.log(formatReport(outcome));
  console.log(`Written to ${await writeReport(RESULTS, outcome, logs)}`);
  if (outcome.violations.length > 0) process.exitCode = 1;
}
if (outcomes.length > 1) {
  console.log(formatSummary(outcomes));
  console.log(`Written to ${await writeSummary(RESULTS, outcomes)}`);
}
