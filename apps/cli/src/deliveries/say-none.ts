import type { DeliveriesWanted } from './list-deliveries.ts';

/** A list without a delivery, in a sentence that repeats what was asked for. */
export function sayNone({
  status,
  event,
  since,
  until,
  receiver,
  task,
  transition,
  workspace,
  notices,
}: DeliveriesWanted): string {
  const of = transition ?? receiver ?? task ?? workspace;
  const words = [
    'No',
    status,
    event,
    notices ? 'notices' : 'deliveries',
    of === undefined ? undefined : `of ${of}`,
    since === undefined ? undefined : `since ${new Date(since).toISOString()}`,
    until === undefined ? undefined : `until ${new Date(until).toISOString()}`,
  ];
  return `${words.filter((word) => word !== undefined).join(' ')}.`;
}
