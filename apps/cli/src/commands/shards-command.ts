import { countOf } from '@herald/runtime/text';
import { createFindRunning, createProcessPresence } from '@herald/store/data/find-running';
import { Command, Option } from 'commander';
import { type CommandDeps, examples, type JsonOption } from '../context/command-deps.ts';
import { readShardCount } from '../context/read-arguments.ts';
import type { ReshardStep } from '../reshard/move-records.ts';
import { reshard, type ReshardReport } from '../reshard/reshard.ts';

const WORDS: Record<ReshardStep, string> = {
  indexes: 'indexes by shard',
  lists: 'logs',
  records: 'records',
  queue: 'queue',
  leftovers: 'leftovers',
};

/** `herald shards`: the parts that all workspaces are divided into. */
export function createShardsCommand({ openHerald, output, recordAct, startProgress }: CommandDeps): Command {
  const shards = new Command('shards').description('the parts that all workspaces are divided into (SHARDS)');
  shards
    .command('reshard')
    .alias('move')
    .description('bring all data to another number of shards, while no API and no worker runs')
    .addOption(
      new Option('--to <number>', 'the SHARDS that the service is to have')
        .argParser(readShardCount)
        .makeOptionMandatory(),
    )
    .addHelpText(
      'after',
      `
Stop every API and worker first: it refuses while it sees one. Executors report again until they are answered with 2xx, so
nothing is lost meanwhile. It copies before it deletes. After an interruption nothing starts on this Redis until the
command has been run again and has finished.
${examples('herald shards reshard --to 4')}`,
    )
    .action(async ({ to, json }: JsonOption & { to: number }) => {
      const progress = startProgress('{step} {bar} {percentage}%');
      const onProgress = (step: ReshardStep, done: number, total: number) => {
        progress.show(done, total, { step: WORDS[step] });
      };
      const onWatch = (count: number, forMs: number) => {
        const processes = countOf(count, 'process');
        output.note(
          `${processes} vanished without stopping in order; watching for ${forMs / 1_000} s whether any is alive.`,
        );
      };
      await using herald = await openHerald({ anyShards: true });
      const { redis, config, now } = herald;
      const findRunning = createFindRunning({ redis, presence: createProcessPresence(redis, now), onWatch });
      const deps = { ...herald, findRunning, onProgress };
      const report = await reshard(deps, config.shardCount, to).finally(progress.stop);
      // The trail lies where the data is to be only now.
      if (report.kind === 'moved')
        await recordAct(herald, { action: 'reshard', target: `${report.from} to ${to} shards` });
      if (json) output.json(report);
      else for (const line of describeReport(report)) output.line(line);
    });
  return shards;
}

function describeReport({ kind, from, to, keys, enqueued, dropped }: ReshardReport): string[] {
  if (kind === 'in_place') return [`Nothing to reshard: the data is laid out for SHARDS=${to}.`];
  return [
    `Moved ${countOf(keys, 'key')} from ${countOf(from, 'shard')} to ${to}; ${countOf(enqueued, 'delivery')} enqueued again.`,
    ...(dropped > 0 ? [`Dropped ${countOf(dropped, 'key')} that belonged to nothing.`] : []),
    `Start every API and worker with SHARDS=${to}.`,
  ];
}
