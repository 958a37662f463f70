/** Puts the deliveries of each transition together, in the order in which they come. */
export function groupByTransition<T extends { readonly transitionId: string }>(
  deliveries: readonly T[],
): [T, ...T[]][] {
  return [...Map.groupBy(deliveries, ({ transitionId }) => transitionId).values()] as [T, ...T[]][];
}
