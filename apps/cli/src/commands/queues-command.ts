import { spanText } from '@herald/runtime/text';
import { createWorkspaceAccounts, type WorkspaceAccount } from '@herald/store/stats/workspace-accounts';
import { Command } from 'commander';
import { type CommandDeps, examples, type JsonOption } from '../context/command-deps.ts';
import { bad, type Cell, doubtful, good, relativeText } from '../context/create-output.ts';
import { examineRedis } from './examine.ts';
import { type QueueLine, type Queues, readQueues, type ReceiverLine } from './read-queues.ts';

/** Receivers in the table; --json has all that were looked at. */
const SHOWN_RECEIVERS = 20;
const SHOWN_WORKSPACES = 20;
const MIB = 1_048_576;

/** `herald queues`: shows the queues, the receivers and the workers. */
export function createQueuesCommand({ openHerald, output, now }: CommandDeps): Command {
  return new Command('queues')
    .description('pending work, how long it has waited, and the workers')
    .addHelpText(
      'after',
      `
Queue: the deliveries of a shard that are not settled.
  waiting    for a worker, or for a free slot of its receiver
  active     being sent
  delayed    for the time of their next try, for their turn, for the rate of their receiver, or for a receiver
             that is paused or gives no answers
  overdue    how long the first has waited for a worker
Receivers: those for which deliveries wait, due or not. None holds up another one. The callbacks of a workspace to one
origin count as one.
  open breaker    it gave no answers; one probe at a time goes out
  paused          it asked to be left alone (Retry-After)
  paused by an operator   until "herald receivers resume"
  sent a second   attempts, in the last minute or two
  empty in        when what is due will be sent at this rate, if no more comes
Findings: what is wrong with Redis, the history or the work, in the words of "herald doctor".
By workspace: those whose Tasks, facts, bodies, attempts and kept answers take the most of Redis, roughly.
${examples('herald queues', 'herald queues --by-workspace', 'watch -n 2 herald queues')}`,
    )
    .option('--by-workspace', 'the workspaces that hold the most instead')
    .action(async ({ json, byWorkspace }: JsonOption & { readonly byWorkspace?: true }) => {
      await using herald = await openHerald();
      if (byWorkspace) {
        const workspaces = await createWorkspaceAccounts(herald).largest(SHOWN_WORKSPACES);
        if (json) output.json({ workspaces });
        else output.table(WORKSPACE_COLUMNS, workspaces.map(toWorkspaceRow), 'No workspace holds anything.');
        return;
      }
      const queues = await readQueues(herald);
      const { checks } = await examineRedis(herald, { queues });
      const findings = checks.flatMap((check) => check.findings);
      if (json) {
        output.json({ ...queues, findings });
        return;
      }
      output.table(QUEUE_COLUMNS, queues.queues.map(toQueueRow), '');
      output.line('');
      const rows = queues.receivers.slice(0, SHOWN_RECEIVERS).map((each) => toReceiverRow(each, now()));
      output.table(RECEIVER_COLUMNS, rows, 'No delivery waits.');
      output.line('');
      output.facts(toServiceFacts(queues));
      const left = queues.receiverCount - rows.length;
      if (left > 0) output.note(`Deliveries wait for ${left} more receivers.`);
      for (const { level, code, sentence } of findings) output.note(`${level} ${code}: ${sentence}`);
    });
}

const WORKSPACE_COLUMNS = ['workspace', 'pending', 'holds'];

function toWorkspaceRow({ workspaceId, pending, bytes }: WorkspaceAccount): Cell[] {
  return [workspaceId, pending, `${(bytes / MIB).toFixed(1)} MiB`];
}

const QUEUE_COLUMNS = ['shard', 'queue', 'waiting', 'active', 'delayed', 'overdue', 'state'];

/** Deliveries wait longer for a worker only when there are too few, or none; in ms. */
const DOUBTFUL_AFTER_MS = 10_000;

function toQueueRow({ shard, queue, waiting, active, delayed, oldestDueMs, isPaused }: QueueLine): Cell[] {
  const span = oldestDueMs > 0 ? spanText(oldestDueMs) : undefined;
  const overdue = span !== undefined && oldestDueMs > DOUBTFUL_AFTER_MS ? doubtful(span) : span;
  return [shard, queue, waiting, active, delayed, overdue, isPaused ? bad('paused') : good('running')];
}

const RECEIVER_COLUMNS = [
  'receiver',
  'host',
  'workspace',
  'deliveries',
  'due',
  'state',
  'longest due',
  'sent a second',
  'empty in',
];

function toReceiverRow(line: ReceiverLine, now: number): Cell[] {
  const { receiver, kind, host, workspace, deliveries, due, waitsSince, sentPerSecond, emptyInMs } = line;
  const longestDue = waitsSince === null ? undefined : spanText(Math.max(0, now - waitsSince.getTime()));
  return [
    receiver ?? kind,
    host ?? '(removed)',
    workspace ?? undefined,
    deliveries,
    due,
    stateOf(line, now),
    longestDue,
    sentPerSecond === null ? undefined : sentPerSecond.toFixed(1),
    due === 0 || emptyInMs === null ? undefined : spanText(emptyInMs),
  ];
}

function stateOf({ state, unanswered, nextProbeAt, pausedUntil, nextDueAt }: ReceiverLine, now: number): Cell {
  if (state === 'stopped') return bad('paused by an operator');
  if (state === 'paused') return doubtful(`paused, ends ${relativeTo(pausedUntil, now)}`);
  if (state === 'breaker_open')
    return bad(`open breaker, ${unanswered} unanswered, next probe ${relativeTo(nextProbeAt, now)}`);
  return good(nextDueAt === null ? 'flowing' : `flowing, next try ${relativeTo(nextDueAt, now)}`);
}

function relativeTo(time: Date | null, now: number): string {
  return relativeText(Math.max(now, time?.getTime() ?? now), now);
}

function toServiceFacts(queues: Queues) {
  const { workers, runningReplays, failedLately, receiverCount } = queues;
  const { acceptedPerSecond, deliveredPerSecond, emptyInMs } = queues;
  const emptyIn =
    emptyInMs === null ? doubtful('not at this rate') : emptyInMs === 0 ? 'nothing is due' : spanText(emptyInMs);
  return {
    'accepted, delivered a second': `${acceptedPerSecond.toFixed(1)}, ${deliveredPerSecond.toFixed(1)}`,
    'what is due is sent in': emptyIn,
    'workers seen lately': workers === 0 ? bad('0') : good(String(workers)),
    'receivers with waiting deliveries': receiverCount,
    'replays under way': runningReplays,
    'deliveries failed lately': failedLately,
  };
}
