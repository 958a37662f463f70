import { setTimeout as delay } from 'node:timers/promises';
import { EVENT_NAMES, type EndpointId, type RequestReplay, type WorkspaceId } from '@herald/core';
import { createReplayOperations, type Replay, REPLAY_WAITS, createReplayStore } from '@herald/store/bulk/replay-store';
import { createWorkerPresence } from '@herald/store/operators/create-service-state-reader';
import { Command, Option } from 'commander';
import { type CommandDeps, examples, type JsonOption, type StartProgress } from '../context/command-deps.ts';
import { toDate } from '../context/create-output.ts';
import { findOwner, type Herald } from '../context/open-herald.ts';
import {
  listReader,
  readErrorCode,
  readHttpStatus,
  readReceiverId,
  readReplayId,
  timeReader,
} from '../context/read-arguments.ts';

type StartOptions = JsonOption &
  Pick<RequestReplay, 'event' | 'error' | 'httpStatus' | 'status' | 'since' | 'until'> & { wait: boolean };

/** The exit code of shells for a command that Ctrl-C ended. */
const INTERRUPTED = 130;
const REPLAYABLE = ['delivered', 'failed', 'canceled', 'pending'] as const;
const EXAMPLES = [
  'herald replay wh_01m7wyndtadddfeszmz5b3xx5r --since 2h',
  'herald replay wh_01m7wyndtadddfeszmz5b3xx5r --since 2d --status pending',
  'herald replay wh_01m7wyndtadddfeszmz5b3xx5r --since 2030-01-30T00:00:00Z --until 2030-01-31T00:00:00Z --status failed',
];

/** `herald replay`: sends the deliveries of a time range again. */
export function createReplayCommand(deps: CommandDeps): Command {
  const { openHerald, output, startProgress, recordAct, now, onInterrupt, setExitCode } = deps;
  const replay = new Command('replay').description(
    'send the deliveries of a time range again to a receiver that missed them',
  );
  replay
    .command('start', { isDefault: true })
    .description('start a replay, and show how far it is until it ends ("start" may be left out)')
    .argument('<receiver>', 'id of the receiver', readReceiverId)
    .requiredOption('--since <time>', 'accepted since then: a time, or how long ago, such as 2h', timeReader(now))
    .option('--until <time>', 'accepted before then; without it: until now', timeReader(now))
    .addOption(
      new Option(
        '--status <list>',
        'failed, canceled, delivered or pending (one more attempt now); separate several with commas',
      )
        .argParser(listReader(REPLAYABLE))
        .default(['failed', 'canceled'], 'failed,canceled'),
    )
    .addOption(new Option('--event <name>', 'only of this event').choices(EVENT_NAMES))
    .option('--error <code>', 'only those whose last attempt has this error, or which have this reason', readErrorCode)
    .option('--http-status <status>', 'only those whose last answer had this status: 503, or 5xx', readHttpStatus)
    .option('--no-wait', 'only start it')
    .addHelpText('after', examples(...EXAMPLES))
    .action(async (receiver: EndpointId, { wait, json, ...request }: StartOptions, command: Command) => {
      const { since, until } = request;
      if (until !== undefined && until <= since) command.error('error: --until must be later than --since');
      await using herald = await openHerald();
      // Ctrl-C must not leave a replay whose id was never printed. A second one ends the process.
      const interrupted = new AbortController();
      onInterrupt(() => {
        interrupted.abort();
      });
      const { signal } = interrupted;
      const operations = createOperations(herald);
      const workspaceId = await findOwner(herald, 'receiver', receiver);
      const started = await operations.request(workspaceId, receiver, request);
      await recordAct(herald, { action: 'replayDeliveries', target: receiver, workspaceId });
      const hasWorkers = (await createWorkerPresence(herald.redis).count(now())) > 0;
      if (!hasWorkers) output.note('No worker was seen lately; the replay begins when one runs.');
      const read = () => operations.find(workspaceId, started.id);
      const ended = wait && hasWorkers ? await watchReplay({ read, started, startProgress, signal }) : started;
      if (json) output.json(toReplayJson(ended));
      else output.line(describeReplay(ended));
      if (!signal.aborted || ended.status !== 'running') return;
      output.note(`Not watching any more; the workers go on. To end it: herald replay stop ${ended.id}`);
      setExitCode(INTERRUPTED);
    });

  const addForOne = (
    name: string,
    description: string,
    use: (herald: Herald, workspaceId: WorkspaceId, id: string) => Promise<Replay>,
  ) => {
    replay
      .command(name)
      .description(description)
      .argument('<id>', 'of the replay', readReplayId)
      .action(async (id: string, { json }: JsonOption) => {
        await using herald = await openHerald();
        const found = await use(herald, await findOwner(herald, 'replay', id), id);
        if (json) output.json(toReplayJson(found));
        else output.facts(toReplayFacts(found));
      });
  };
  addForOne('show', 'how far a replay is', (herald, workspaceId, id) => createOperations(herald).find(workspaceId, id));
  addForOne(
    'stop',
    'stop a replay; deliveries that are already pending are still sent',
    async (herald, workspaceId, id) => {
      const operations = createOperations(herald);
      const found = await operations.find(workspaceId, id);
      if (found.status !== 'running') return found;
      const stopped = await operations.stop(workspaceId, id);
      await recordAct(herald, { action: 'stopReplay', target: id, workspaceId });
      return stopped;
    },
  );
  return replay.addHelpText('after', examples(...EXAMPLES, 'herald replay stop rpl_00112233445566778899aabb'));
}

function createOperations(herald: Herald) {
  const { config, now } = herald;
  const replays = createReplayStore({ ...herald, keepMs: config.replayRetentionMs });
  return createReplayOperations({ replays, onRequested: () => undefined, now });
}

/** The result of a replay in one sentence, with the next command. */
export function describeReplay({ id, endpointId, status, replayed, seen, total }: Replay): string {
  const deliveries = `${Math.max(seen, total)} deliveries of that time`;
  const next = `"herald deliveries list --receiver ${endpointId}" shows how they end`;
  switch (status) {
    case 'running':
      return `Started replay ${id}; "herald replay show ${id}" says how far it is.`;
    case 'done':
      return replayed === 0
        ? `Nothing to replay: none of the ${deliveries} is what was asked for.`
        : `Replayed ${replayed} of ${deliveries}: they are pending and go out now; ${next}.`;
    case 'stopped':
      return `Replay ${id} was stopped after ${replayed} of ${deliveries}: by request, or because the receiver was disabled or removed.`;
  }
}

function toReplayFacts(replay: Replay) {
  return {
    replay: replay.id,
    receiver: replay.endpointId,
    status: replay.status,
    'of status': replay.statuses.join(', '),
    'of event': replay.event,
    'of error': replay.error,
    'of answer': replay.httpStatus,
    since: new Date(replay.since),
    until: new Date(replay.until),
    started: new Date(replay.createdAt),
    ended: toDate(replay.endedAt),
    'looked at': `${replay.seen} of ${replay.total} deliveries`,
    replayed: replay.replayed,
    waits: replay.fullOf && REPLAY_WAITS[replay.fullOf],
  };
}

function toReplayJson({ endpointId, since, until, createdAt, endedAt, fullOf, ...replay }: Replay) {
  return {
    ...replay,
    receiverId: endpointId,
    since: new Date(since),
    until: new Date(until),
    createdAt: new Date(createdAt),
    endedAt: toDate(endedAt) ?? null,
    ...(fullOf && { waits: REPLAY_WAITS[fullOf] }),
  };
}

const LOOK_EVERY_MS = 500;

type WatchReplayDeps = {
  readonly read: () => Promise<Replay>;
  readonly started: Replay;
  readonly startProgress: StartProgress;
  /** Ends the watching. The replay goes on: workers carry it out. */
  readonly signal: AbortSignal;
};

/** Shows the progress of a replay until it has ended, or `signal` is aborted. */
export async function watchReplay({ read, started, startProgress, signal }: WatchReplayDeps): Promise<Replay> {
  const progress = startProgress('{bar} {value} of {total} deliveries looked at, {replayed} replayed');
  let replay = started;
  try {
    while (replay.status === 'running' && !signal.aborted) {
      progress.show(replay.seen, replay.total, { replayed: replay.replayed });
      await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
      replay = await read();
    }
  } finally {
    progress.stop();
  }
  return replay;
}
