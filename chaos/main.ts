import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { createPlan, describeAction } from './plan.ts';
import { readOptions, USAGE, type ChaosOptions } from './read-options.ts';
import { assertFaultsArePossible } from './redis-faults.ts';
import { formatReport, writeReport } from './report.ts';
import { runChaos } from './run-chaos.ts';

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

const options = readCommandLine();
if (options.plan) {
  for (const action of createPlan(options.seed, options.seconds)) console.log(describeAction(action));
} else {
  console.log(`Seed ${options.seed}`);
  const { outcome, logs } = await runChaos(options, (line) => {
    console.log(`… ${line}`);
  });
  console.log(formatReport(outcome));
  console.log(`Written to ${await writeReport(join(import.meta.dirname, 'results'), outcome, logs)}`);
  process.exitCode = outcome.violations.length === 0 ? 0 : 1;
}
