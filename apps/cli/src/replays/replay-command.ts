import { NotFoundError, RequestReplay, type EndpointId } from '@herald/core';
import { createOwnerLookUp } from '@herald/store/operators/owner-look-up';
import { createReplayOperations } from '@herald/store/replays/create-replay-operations';
import { createReplayStore, type Replay } from '@herald/store/replays/replay-store';
import { createWorkerPresence } from '@herald/store/service-state/worker-presence';
import { Command, Option } from 'commander';
import { examples, JSON_OPTION, type CommandDeps, type JsonOption } from '../context/command-deps.ts';
import type { Herald } from '../context/open-herald.ts';
import { readListOf, readReceiverId, readReplayId, readTime } from '../context/read-arguments.ts';
import { describeReplay, toReplayFacts, toReplayJson } from './describe-replay.ts';
import { listenForInterrupt } from './listen-for-interrupt.ts';
import { watchReplay } from './watch-replay.ts';

type StartOptions = JsonOption & {
  since: number;
  until?: number;
  status: RequestReplay['status'];
  wait: boolean;
};

/** What shells say of a command that Ctrl-C ended. */
const INTERRUPTED = 130;
const REPLAYABLE = ['delivered', 'failed', 'canceled'] as const;

/** `herald replay`: everything of a time range once more. */
export function createReplayCommand({ withHerald, output, startProgress, now }: CommandDeps): Command {
  const replay = new Command('replay').description(
    'send what a receiver missed once more: the deliveries of a time range',
  );
  replay
    .command('start', { isDefault: true })
    .description('start a replay, and show how far it is until it ends ("start" may be left out)')
    .argument('<receiver>', 'id of the receiver', readReceiverId)
    .requiredOption('--since <time>', 'accepted since then: a time, or how long ago, such as 2h', readTime(now))
    .option('--until <time>', 'accepted before then; without it: until now', readTime(now))
    .addOption(
      new Option('--status <list>', 'those that are failed, canceled or delivered; several by commas')
        .argParser(readListOf(REPLAYABLE))
        .default(['failed', 'canceled'], 'failed,canceled'),
    )
    .option('--no-wait', 'only start it')
    .option(...JSON_OPTION)
    .addHelpText('after', examples(...EXAMPLES))
    .action(async (receiver: EndpointId, { since, until, status, wait, json }: StartOptions, command: Command) => {
      if (until !== undefined && until <= since) command.error('error: --until must be later than --since');
      await withHerald(async (herald) => {
        // From before the start on, so that Ctrl-C never leaves a replay that nobody was told of.
        const { signal, release } = listenForInterrupt();
        herald.resources.add('interrupt', release);
        const operations = createOperations(herald);
        const workspaceId = await createOwnerLookUp(herald).ofEndpoint(receiver);
        if (workspaceId === undefined) throw new NotFoundError('receiver', receiver);
        const request = { since, status, ...(until !== undefined && { until }) };
        const started = await operations.request(workspaceId, receiver, request);
        const hasWorkers = (await createWorkerPresence(herald.redis).count(now())) > 0;
        if (!hasWorkers) output.note('No worker was seen lately; the replay begins when one runs.');
        const read = () => operations.find(workspaceId, started.id);
        const ended = wait && hasWorkers ? await watchReplay({ read, started, startProgress, signal }) : started;
        if (json) output.json(toReplayJson(ended));
        else output.line(describeReplay(ended));
        if (!signal.aborted || ended.status !== 'running') return;
        output.note(`Not watching any more; the workers go on. To end it: herald replay stop ${ended.id}`);
        process.exitCode = INTERRUPTED;
      });
    });

  const addForOne = (
    name: 'show' | 'stop',
    description: string,
    act: (operations: Operations, workspaceId: string, id: string) => Promise<Replay>,
  ) => {
    replay
      .command(name)
      .description(description)
      .argument('<id>', 'of the replay', readReplayId)
      .option(...JSON_OPTION)
      .action(async (id: string, { json }: JsonOption) => {
        const found = await withHerald(async (herald) => {
          const workspaceId = await createOwnerLookUp(herald).ofReplay(id);
          if (workspaceId === undefined) throw new NotFoundError('replay', id);
          return await act(createOperations(herald), workspaceId, id);
        });
        if (json) output.json(toReplayJson(found));
        else output.facts(toReplayFacts(found));
      });
  };
  addForOne('show', 'how far a replay is', (operations, workspaceId, id) => operations.find(workspaceId, id));
  addForOne('stop', 'stop a replay; what it has set pending already is sent', (operations, workspaceId, id) =>
    operations.stop(workspaceId, id),
  );
  return replay.addHelpText('after', examples(...EXAMPLES, 'herald replay stop rpl_00112233445566778899aabb'));
}

const EXAMPLES = [
  'herald replay wh_01m7wyndtadddfeszmz5b3xx5r --since 2h',
  'herald replay wh_01m7wyndtadddfeszmz5b3xx5r --since 2030-01-30T00:00:00Z --until 2030-01-31T00:00:00Z --status failed',
];

type Operations = ReturnType<typeof createOperations>;

function createOperations(herald: Herald) {
  const { config, now } = herald;
  return createReplayOperations({
    replays: createReplayStore({ ...herald, keepMs: config.retentionMs }),
    onRequested: () => undefined,
    now,
  });
}
