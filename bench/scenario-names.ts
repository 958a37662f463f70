/** In the order in which they run. */
export const SCENARIO_NAMES = [
  'floor',
  'drain',
  'accept',
  'through',
  'latency',
  'memory',
  'growth',
  'scale',
  'isolation',
  'slow-clients',
] as const;
export type ScenarioName = (typeof SCENARIO_NAMES)[number];

/** What can be measured of another build beside this one. */
export const BESIDE_SCENARIOS: readonly ScenarioName[] = [
  'drain',
  'accept',
  'through',
  'latency',
  'memory',
  'isolation',
];

/** What runs when none is named: all but the floor, which a drain measures between its own rounds. */
export const ALL_SCENARIOS: readonly ScenarioName[] = SCENARIO_NAMES.filter((name) => name !== 'floor');
