import { EVENT_NAMES } from '@herald/core';
import { bad, doubtful, good, type Cell } from '../output/cell.ts';
import type { ListedReceiver } from './list-receivers.ts';

export const RECEIVER_COLUMNS = ['id', 'workspace', 'url', 'events', 'state', 'since', 'backlog', 'last success'];

const PAINT = { healthy: good, failing: doubtful, paused: doubtful, disabled: bad };

export function toReceiverRow(receiver: ListedReceiver): Cell[] {
  const { id, workspace, url, events, state, since, backlog, lastSuccessAt } = receiver;
  return [
    ...[id, workspace, url, events.length === 0 || events.length === EVENT_NAMES.length ? 'all' : events.join(',')],
    PAINT[state](`${state}${detailOf(receiver)}`),
    ...[new Date(since), backlog, lastSuccessAt === null ? undefined : new Date(lastSuccessAt)],
  ];
}

function detailOf({ state, disabledReason, consecutiveFailures }: ListedReceiver): string {
  if (state === 'disabled') return disabledReason === undefined ? '' : ` (${disabledReason})`;
  return state !== 'healthy' && consecutiveFailures > 0 ? ` (${consecutiveFailures} in a row)` : '';
}
