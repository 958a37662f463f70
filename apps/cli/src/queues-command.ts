import { Command } from 'commander';
import { examples, JSON_OPTION, type CommandDeps, type JsonOption } from './command-deps.ts';
import { BACKLOG_COLUMNS, QUEUE_COLUMNS, toBacklogRow, toQueueRow, toServiceFacts } from './queues/queue-rows.ts';
import { readQueues } from './queues/read-queues.ts';

/** Backlogs that are shown to people; --json has all that were looked at. */
const SHOWN_BACKLOGS = 20;

/** `herald queues`: what waits, where, for how long, and who is there to send it. */
export function createQueuesCommand({ withHerald, output, now }: CommandDeps): Command {
  return new Command('queues')
    .description('what waits, for how long, and who is there to send it')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      `
Queues: "deliveries" is the line, "tests" the lane of test events; each shard has both.
  waiting    for a worker          delayed    for the time of their next try
  active     being sent            overdue    how long the oldest has been due
Backlogs: deliveries that wait for their destination, outside the queues, so that they hold up nobody else.
  open breaker    it gave no answers; one probe at a time goes out
  on hold         it asked to be left alone (Retry-After)
${examples('herald queues', 'watch -n 2 herald queues')}`,
    )
    .action(async ({ json }: JsonOption) => {
      const queues = await withHerald(readQueues);
      if (json) {
        output.json(queues);
        return;
      }
      output.table(QUEUE_COLUMNS, queues.queues.map(toQueueRow), '');
      output.line('');
      const rows = queues.backlogs.slice(0, SHOWN_BACKLOGS).map((backlog) => toBacklogRow(backlog, now()));
      output.table(BACKLOG_COLUMNS, rows, 'No delivery waits for its destination.');
      output.line('');
      output.facts(toServiceFacts(queues));
      const left = queues.backlogDestinations - rows.length;
      if (left > 0) output.note(`${left} more destinations have a backlog.`);
      if (queues.workers === 0) output.note('No worker was seen lately: nothing is sent. Start one.');
    });
}
