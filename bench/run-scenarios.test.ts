import { THIS_BUILD } from './start-herald.ts';
import { lengthsOf, readOptions, SCENARIO_NAMES, type ScenarioName } from './options.ts';
import { runScenarios, type Scenario, type ScenarioOptions } from './run-scenarios.ts';
import { judgeOnce, targetsTable } from './targets.ts';

const nothing: Scenario = () => Promise.resolve({ tables: [], raw: {}, targets: [] });
const allOf = (given: Partial<Record<ScenarioName, Scenario>>) => {
  const entries = SCENARIO_NAMES.map((name) => [name, given[name] ?? nothing] as const);
  return Object.fromEntries(entries) as Record<ScenarioName, Scenario>;
};
const ignore = () => undefined;

test('a scenario that fails is a row that says so, and those after it run', async () => {
  const drain: Scenario = () => Promise.reject(new Error('no redis-server\nsecond line'));
  const through: Scenario = () =>
    Promise.resolve({ tables: [], raw: {}, targets: [judgeOnce('through', 'through', 3_100)] });
  const run = await runScenarios(allOf({ drain, through }), readOptions(['through', 'drain']), ignore);
  expect(targetsTable(run, false).rows).toEqual([
    ['drain', 'FAILED', NaN, NaN, 'no redis-server', 'no'],
    ['through', 3_100, NaN, NaN, 'at least 3,000', 'yes'],
  ]);
});

test('each scenario gets its own lengths, and what was asked for instead', async () => {
  const seen: ScenarioOptions[] = [];
  const note: Scenario = ({ options }) => {
    seen.push(options);
    return Promise.resolve({ tables: [], raw: {}, targets: [] });
  };
  const scenarios = allOf({ drain: note, history: note });
  await runScenarios(scenarios, readOptions(['drain', 'history', '--repeats', '2']), ignore);
  expect(seen).toEqual([
    { ...lengthsOf('drain', false), repeats: 2, builds: [THIS_BUILD], variants: [], profile: false },
    { ...lengthsOf('history', false), repeats: 2, builds: [THIS_BUILD], variants: [], profile: false },
  ]);
});
