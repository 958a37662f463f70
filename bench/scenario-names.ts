/** The scenarios, in the order in which they run. */
export const SCENARIO_NAMES = [
  'floor',
  'drain',
  'accept',
  'through',
  'latency',
  'order',
  'memory',
  'growth',
  'scale',
  'isolation',
  'slow-clients',
  'console',
  'listen',
  'reporter',
  'history',
  'history-load',
] as const;
export type ScenarioName = (typeof SCENARIO_NAMES)[number];

/** Scenarios that can compare two builds. */
export const BESIDE_SCENARIOS: readonly ScenarioName[] = [
  'drain',
  'accept',
  'through',
  'latency',
  'memory',
  'isolation',
  'listen',
];

/** The default scenarios: all but the floor, which a drain measures between its own rounds. */
export const ALL_SCENARIOS: readonly ScenarioName[] = SCENARIO_NAMES.filter((name) => name !== 'floor');
