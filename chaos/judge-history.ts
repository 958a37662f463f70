import { deliveryIdOf } from '@herald/core';
import type { Evidence } from './evidence.ts';
import { judgeWalk } from './judge-walk.ts';
import type { ReadList } from './read-lists.ts';
import { findSubscribed } from './subscription.ts';

/** With a history: each delivery is there once, with the bytes that were sent, and every list shows it once. */
export function judgeHistory(evidence: Evidence): string[] {
  const { history, records, facts, endpoints } = evidence;
  if (!history) return [];
  const known = new Set(records.map(({ id }) => id));
  const owed = [...findSubscribed(facts.values(), endpoints)].flatMap(([fact, endpoint, isCertain]) =>
    isCertain ? deliveryIdOf(fact.transitionId, endpoint.id) : [],
  );
  return [
    ...owed.filter((id) => !known.has(id)).map((id) => `${id} is neither in Redis nor in the history`),
    ...judgeRows(evidence),
    ...history.lists.flatMap((list) => judgeList(list, evidence)),
  ];
}

function judgeRows({ history, arrivals, mayForgetUnanswered }: Evidence): string[] {
  const sentBodies = Map.groupBy(arrivals, ({ deliveryId }) => deliveryId);
  return [...Map.groupBy(history?.rows ?? [], ({ id }) => id)].flatMap(([id, rows]) => {
    const places = rows.map(({ createdAt }) => createdAt);
    if (rows.length > 1) return [`the history has ${id} ${rows.length} times: of ${places.join(' and ')}`];
    const body = rows[0]?.body;
    if (body == null) return [`the history has no body of ${id}`];
    const sent = (sentBodies.get(id) ?? []).map(({ request }) => request.rawBody.toString());
    const others = sent.filter((each) => each !== body);
    // A transition that a failover lost is told anew, in other words.
    const isWrong = mayForgetUnanswered ? others.length === sent.length && sent.length > 0 : others.length > 0;
    return isWrong ? [`the history has other bytes of ${id} than were sent: ${body}, not ${others[0] ?? ''}`] : [];
  });
}

/** Everything that is known of the list's owner, and nothing else. */
function judgeList({ name, workspaceId, endpointId, walk }: ReadList, { records, endpoints }: Evidence): string[] {
  const isOwn = ({ id, workspaceId: owner }: Evidence['endpoints'][number]) =>
    endpointId === undefined ? owner === workspaceId : id === endpointId;
  const own = new Set(endpoints.filter(isOwn).map(({ id }) => id));
  const ids = new Set(records.filter((record) => own.has(record.endpointId)).map(({ id }) => id));
  const strange = walk.entries.filter(({ id }) => !ids.has(id));
  return [...judgeWalk(name, walk, ids), ...strange.map(({ id }) => `${name} showed ${id}, which isn't its own`)];
}
