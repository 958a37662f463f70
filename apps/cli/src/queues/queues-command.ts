import { Command } from 'commander';
import { examples, type CommandDeps, type JsonOption } from '../context/command-deps.ts';
import { DESTINATION_COLUMNS, QUEUE_COLUMNS, toDestinationRow, toQueueRow, toServiceFacts } from './queue-rows.ts';
import { readQueues } from './read-queues.ts';

/** Destinations in the table; --json has all that were looked at. */
const SHOWN_DESTINATIONS = 20;

/** `herald queues`: shows the queues, the destinations and the workers. */
export function createQueuesCommand({ openHerald, output, now }: CommandDeps): Command {
  return new Command('queues')
    .description('what waits, for how long, and who is there to send it')
    .addHelpText(
      'after',
      `
Queue: the deliveries of a shard that are not settled.
  waiting    for a worker, or for a free slot of its destination
  active     being sent
  delayed    for the time of their next try, or for a destination that is paused or gives no answers
  overdue    how long the first has waited for a worker
Destinations: those for which deliveries wait, due or not. Each holds up nobody but itself.
  open breaker    it gave no answers; one probe at a time goes out
  paused          it asked to be left alone (Retry-After)
${examples('herald queues', 'watch -n 2 herald queues')}`,
    )
    .action(async ({ json }: JsonOption) => {
      await using herald = await openHerald();
      const queues = await readQueues(herald);
      if (json) {
        output.json(queues);
        return;
      }
      output.table(QUEUE_COLUMNS, queues.queues.map(toQueueRow), '');
      output.line('');
      const rows = queues.destinations.slice(0, SHOWN_DESTINATIONS).map((each) => toDestinationRow(each, now()));
      output.table(DESTINATION_COLUMNS, rows, 'No delivery waits.');
      output.line('');
      output.facts(toServiceFacts(queues));
      const left = queues.destinationCount - rows.length;
      if (left > 0) output.note(`Deliveries wait for ${left} more destinations.`);
      if (queues.workers === 0) output.note('No worker was seen lately: nothing is sent. Start one.');
    });
}
