/** The group of test events: express, so that no limit and no breaker holds one back. */
export const TEST_GROUP = '!tests';

export function isTestGroup(group: string): boolean {
  return group === TEST_GROUP;
}
