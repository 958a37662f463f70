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

/** What runs when none is named: all but the floor, which a drain measures between its own rounds. */
export const ALL_SCENARIOS: readonly ScenarioName[] = SCENARIO_NAMES.filter((name) => name !== 'floor');
