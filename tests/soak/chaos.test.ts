import { fileURLToPath } from 'node:url';
import { commandOf, formatReport, writeLogs, writeReport } from '../../chaos/report.ts';
import { runChaos, type Run } from '../../chaos/run-chaos.ts';
import { chooseScenario } from '../../chaos/scenario.ts';
import { assertFaultsArePossible } from '../../chaos/server-faults.ts';

const RESULTS = fileURLToPath(new URL('../../chaos/results/', import.meta.url));
const SEED = 24;
const RUN: Run = {
  seed: SEED,
  seconds: 60,
  scenario: chooseScenario(SEED, { topology: 'single', history: true }),
};
const DEADLINE_MS = 480_000;

test(
  'nothing that was accepted is lost while everything goes wrong, and every invariant holds',
  async () => {
    assertFaultsArePossible(RUN.scenario.history);
    const ended = await runChaos(RUN, () => undefined);
    if (ended.kind === 'spoiled') {
      const file = await writeLogs(RESULTS, SEED, ended.logs);
      throw new Error(`no verdict: ${ended.reason}\nAgain: ${commandOf(RUN)}\nWhat all processes printed: ${file}`);
    }
    const { outcome, logs } = ended;
    if (outcome.violations.length > 0) {
      const file = await writeReport(RESULTS, outcome, logs);
      throw new Error(`${formatReport(outcome)}\nWritten, with the log of all processes, to ${file}`);
    }
    expect(outcome.counts.lost).toBe(0);
    // Otherwise nothing was shown.
    expect(outcome.counts.deliveries).toBeGreaterThan(100);
    expect(outcome.fleet.killed).toBeGreaterThan(3);
    expect(outcome.looks).toBeGreaterThan(20);
  },
  DEADLINE_MS,
);
