import type { DestinationId, EndpointId } from '@herald/core';

/** An endpoint whose pending deliveries must end or move. One that was removed brings the destinations for which they wait. */
export type PurgeMark = { readonly endpointId: EndpointId; readonly destinations: readonly DestinationId[] };

/** @param member of the list of purges: the endpoint's id, and after it destinations, with `|` between them */
export function readPurgeMark(member: string): PurgeMark {
  const [endpointId = '', ...destinations] = member.split('|');
  return { endpointId, destinations };
}
