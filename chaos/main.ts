import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { createPlan, describeAction } from './plan.ts';
import { readOptions, USAGE } from './read-options.ts';
import { formatReport, writeLogs, writeReport } from './report.ts';
import { runChaos, type Outcome, type Spoiled } from './run-chaos.ts';
import { chooseScenario, describeScenario } from './scenario.ts';
import { assertFaultsArePossible } from './server-faults.ts';
import { formatSummary, writeSummary } from './summary.ts';

const RESULTS = join(import.meta.dirname, 'results');

function readCommandLine() {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    console.log(USAGE);
    process.exit(0);
  }
  try {
    const { seeds, ...options } = readOptions(args, randomInt(1_000_000));
    const runs = seeds.map((seed) => ({ seed, scenario: chooseScenario(seed, options) }));
    assertFaultsArePossible(!options.plan && runs.some(({ scenario }) => scenario.history));
    return { ...options, runs };
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

const { runs, seconds, plan } = readCommandLine();
const outcomes: Outcome[] = [];
const spoiled: Spoiled[] = [];
for (const { seed, scenario } of runs) {
  console.log(`Seed ${seed}: ${describeScenario(scenario)}`);
  if (plan) {
    for (const action of createPlan(seed, seconds, scenario)) console.log(describeAction(action));
    continue;
  }
  const ended = await runChaos({ seed, seconds, scenario }, (line) => {
    console.log(`… ${line}`);
  });
  if (ended.kind === 'spoiled') {
    spoiled.push(ended);
    console.log(
      `No verdict: ${ended.reason}\nWhat the processes printed: ${await writeLogs(RESULTS, seed, ended.logs)}`,
    );
    process.exitCode = 1;
    continue;
  }
  const { outcome, logs } = ended;
  outcomes.push(outcome);
  console.log(formatReport(outcome));
  console.log(`Written to ${await writeReport(RESULTS, outcome, logs)}`);
  if (outcome.violations.length > 0) process.exitCode = 1;
}
if (outcomes.length + spoiled.length > 1) {
  console.log(formatSummary(outcomes, spoiled));
  console.log(`Written to ${await writeSummary(RESULTS, outcomes, spoiled)}`);
}
