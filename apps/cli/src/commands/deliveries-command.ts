import { DELIVERY_STATUSES, DeliveryEvent, type DeliveryId, NotFoundError } from '@herald/core';
import { countOf } from '@herald/runtime/text';
import { createRedeliver, createDeliveryLog } from '@herald/store/lists/delivery-log';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-record';
import { dropDeliveries, type DropFilter, type DropMode, type DropReport } from '@herald/store/bulk/drop-deliveries';
import { describeDelivery } from '@herald/store/operators/describe-delivery';
import { Command, Option } from 'commander';
import { type CommandDeps, examples, type JsonOption } from '../context/command-deps.ts';
import { findOwner, type Herald } from '../context/open-herald.ts';
import {
  readDeliveryId,
  readEndpointId,
  readErrorCode,
  readHttpStatus,
  readLimit,
  readTaskId,
  readTransitionId,
  readWorkspace,
  timeReader,
} from '../context/read-arguments.ts';
import {
  addWaits,
  ATTEMPT_COLUMNS,
  DELIVERY_COLUMNS,
  toAttemptJson,
  toAttemptRow,
  toDeliveryFacts,
  toDeliveryJson,
  toDeliveryRow,
  toRequest,
} from './describe-delivery.ts';
import { type DeliveriesWanted, listDeliveries, sayNone } from './list-deliveries.ts';

const DEFAULT_LIMIT = 50;

/** `herald deliveries`: lists deliveries, shows and redelivers one, cancels and deletes many. */
export function createDeliveriesCommand({ openHerald, output, recordAct, startProgress, now }: CommandDeps): Command {
  const deliveries = new Command('deliveries').description(
    'list deliveries, show or redeliver one, cancel or delete many',
  );
  deliveries
    .command('list')
    .description(
      'deliveries, newest first: of a receiver, a callback, a Task or a workspace, or those that failed lately',
    )
    .option('--receiver <id>', 'of this receiver (wh_…) or callback (cb_…)', readEndpointId)
    .addOption(
      new Option('--task <id>', 'of this Task, to receivers and to its callback')
        .argParser(readTaskId)
        .conflicts(['receiver', 'workspace']),
    )
    .addOption(
      new Option('--workspace <id>', 'of this workspace, to receivers and to callbacks')
        .argParser(readWorkspace)
        .conflicts(['receiver', 'task']),
    )
    .addOption(
      new Option(
        '--transition <id>',
        'of this transition (trn_…), the id in the body; with --workspace in the history too',
      )
        .argParser(readTransitionId)
        .conflicts(['task']),
    )
    .addOption(
      new Option('--notices', 'the notices to the platform, of all workspaces').conflicts([
        'receiver',
        'task',
        'transition',
        'workspace',
      ]),
    )
    .addOption(new Option('--status <status>', 'with this status').choices(DELIVERY_STATUSES))
    .addOption(new Option('--event <name>', 'of this event').choices(DeliveryEvent.options))
    .option('--error <code>', 'only those whose last attempt has this error, or which have this reason', readErrorCode)
    .option('--http-status <status>', 'only those whose last answer had this status: 503, or 5xx', readHttpStatus)
    .option('--since <time>', 'accepted since then: a time, or how long ago, such as 14:00 or 2h', timeReader(now))
    .option('--until <time>', 'accepted before then', timeReader(now))
    .option('--limit <n>', 'at most so many', readLimit, DEFAULT_LIMIT)
    .addHelpText(
      'after',
      `
Of what failed in all workspaces it knows a thousand deliveries of each shard. When there are more, the workspaces with the most give their oldest; --workspace or --receiver shows all of theirs.
${examples(
  'herald deliveries list --status failed                    those that failed lately, of all workspaces',
  'herald deliveries list --workspace ws_x --since 14:00 --until 15:30',
  'herald deliveries list --receiver wh_… --status pending --event task.done',
  'herald deliveries list --workspace ws_x --since 8h --http-status 5xx',
)}`,
    )
    .action(async ({ json, ...wanted }: JsonOption & DeliveriesWanted, command: Command) => {
      const isNarrow = wanted.receiver ?? wanted.task ?? wanted.transition ?? wanted.workspace;
      if (isNarrow === undefined && !wanted.notices && wanted.status !== 'failed')
        command.error(
          'error: name a --receiver, --task, --transition or --workspace, or ask for --notices or --status failed',
        );
      const { since, until } = wanted;
      if (since !== undefined && until !== undefined && until <= since)
        command.error('error: --until must be later than --since');
      await using herald = await openHerald();
      const { list: found, hasMore, isPartial } = await listDeliveries(herald, wanted);
      const list = await addWaits(herald, found);
      if (json) output.json(list.map(toDeliveryJson));
      else output.table(DELIVERY_COLUMNS, list.map(toDeliveryRow), sayNone(wanted));
      if (isPartial) output.note('The history cannot be reached: deliveries that have left Redis are missing.');
      if (hasMore) output.note(`There are more than these ${list.length}: --limit shows more, --since fewer.`);
    });
  deliveries
    .command('show')
    .description('one delivery with all of its attempts')
    .argument('<id>', 'of the delivery', readDeliveryId)
    .option(
      '--request',
      'show what is sent as well: the whole url, headers and body, which the customer may want private',
    )
    .addHelpText('after', examples('herald deliveries show dlv_ixeizp4snsuommspdcs6oacmpu52wjbz'))
    .action(async (id: DeliveryId, { json, request: withRequest }: JsonOption & { request?: true }) => {
      await using herald = await openHerald();
      const { description, attempts, readContent } = await findDelivery(herald, id);
      const request = withRequest && toRequest(description, await readContent());
      if (json) {
        output.json({ ...toDeliveryJson(description), request, attempts: attempts.map(toAttemptJson) });
        return;
      }
      output.facts(toDeliveryFacts(description));
      if (request) {
        output.line('');
        output.facts({ request: `${request.method} ${request.url ?? '(removed)'}`, ...request.headers });
        const gone = description.delivery.erasedAt === undefined ? '(no longer kept)' : '(erased)';
        output.facts({ body: request.body ?? gone });
      }
      output.line('');
      output.table(ATTEMPT_COLUMNS, attempts.map(toAttemptRow), 'No attempt yet.');
    });
  deliveries
    .command('redeliver')
    .description('make one more attempt now, with the same id and the same bytes, beside the schedule')
    .argument('<id>', 'of the delivery', readDeliveryId)
    .addHelpText('after', examples('herald deliveries redeliver dlv_ixeizp4snsuommspdcs6oacmpu52wjbz'))
    .action(async (id: DeliveryId, { json }: JsonOption) => {
      await using herald = await openHerald();
      const log = createDeliveryLog(herald);
      const redeliver = createRedeliver({ log, report: { requested: () => undefined }, now });
      const workspaceId = await findOwner(herald, 'delivery', id);
      const delivery = await redeliver(workspaceId, id);
      await recordAct(herald, { action: 'redeliverDelivery', target: id, workspaceId });
      if (json) output.json({ id, status: delivery.status, owedAttempts: delivery.owedAttempts });
      else
        output.line(`A worker makes one more attempt at ${id} now. "herald deliveries show ${id}" says how it ended.`);
    });
  for (const mode of ['cancel', 'purge'] as const) {
    deliveries
      .command(mode)
      .description(
        mode === 'cancel'
          ? 'end what is pending: it is canceled, and stays for RETENTION'
          : 'delete deliveries with their bodies, whatever their status: what is pending is never sent',
      )
      .option('--workspace <id>', 'of this workspace', readWorkspace)
      .option('--receiver <id>', 'to this receiver (wh_…) or callback (cb_…)', readEndpointId)
      .option('--task <id>', 'of this Task', readTaskId)
      .addOption(new Option('--status <status>', 'with this status').choices(DELIVERY_STATUSES))
      .addOption(new Option('--event <name>', 'of this event').choices(DeliveryEvent.options))
      .option('--before <time>', 'accepted before then: a time, or how long ago, such as 2h', timeReader(now))
      .option('--yes', 'do it; without, it only counts')
      .addHelpText(
        'after',
        `
It ${mode === 'cancel' ? 'walks what waits and what is in work, ten times at most while more comes' : 'walks all of Redis once'}, step by step, and works when Redis is full. What is in a history stays there.
${examples(
  `herald deliveries ${mode} --workspace ws_x --before 2h`,
  `herald deliveries ${mode} --receiver wh_01m7wyndtadddfeszmz5b3xx5r --status pending --yes`,
)}`,
      )
      .action(async ({ json, yes, ...filter }: JsonOption & DropFilter & { readonly yes?: true }, command: Command) => {
        if (mode === 'cancel' && filter.status !== undefined && filter.status !== 'pending')
          command.error('error: only what is pending can be canceled; leave --status out');
        if (Object.keys(filter).length === 0)
          command.error('error: name at least one of --workspace, --receiver, --task, --status, --event, --before');
        await using herald = await openHerald();
        const { redis, keyspace, config } = herald;
        const retention = createDeliveryRetention(config.retentionMs, config.history !== undefined);
        const wanted = mode === 'cancel' ? { ...filter, status: 'pending' as const } : filter;
        const run = async (as: DropMode) => {
          const progress = startProgress('looking at deliveries {bar} {percentage}%');
          const deps = { redis, keyspace, retention, now, onProgress: progress.show };
          return await dropDeliveries(deps, wanted, as).finally(progress.stop);
        };
        const report = await run(yes ? mode : 'count');
        if (yes) {
          const { workspace } = filter;
          await recordAct(herald, {
            action: mode === 'cancel' ? 'cancelDeliveries' : 'purgeDeliveries',
            target: sayFilter(wanted),
            ...(workspace !== undefined && { workspaceId: workspace }),
          });
        }
        const { left, ...counts } = report;
        if (json) output.json({ ...counts, isDone: yes === true && left === 0 });
        else output.line(describeDrop(yes ? mode : 'count', mode, report));
        if (left > 0) output.problem(describeLeft(left, filter));
      });
  }
  return deliveries;
}

/** What was done, or would be, in a sentence. */
export function describeDrop(
  done: DropMode,
  mode: 'cancel' | 'purge',
  { deliveries, pending, left }: DropReport,
): string {
  const count = countOf(deliveries, 'delivery');
  const isCounted = done === 'count';
  if (mode === 'purge') {
    return isCounted
      ? `${count} would be deleted, of which ${pending} are pending. --yes does it.`
      : `${count} deleted, and that is all that there were when it began; ${pending} were pending.`;
  }
  if (isCounted) return `${count} would be canceled. --yes does it.`;
  return `${count} canceled, ${left > 0 ? 'but not all' : 'and that is all of them'}; a request that was under way may still arrive.`;
}

/** That a cancelation has not come to its end, and what to type next. */
export function describeLeft(left: number, filter: DropFilter): string {
  const more = `${countOf(left, 'more delivery')} ${left === 1 ? 'is' : 'are'} pending`;
  return `${more}: they come as fast as they are canceled. Run it again: "herald deliveries cancel ${sayFilter(filter)} --yes". If that doesn't help, "herald receivers disable" stops those of a receiver or a callback.`;
}

/** As one types it; times as they are shown. */
function sayFilter({ before, ...filter }: DropFilter): string {
  const times = before === undefined ? {} : { before: new Date(before).toISOString() };
  return Object.entries({ ...filter, ...times })
    .map(([name, value]) => `--${name} ${value}`)
    .join(' ');
}

async function findDelivery(herald: Herald, id: DeliveryId) {
  const { redis, keyspace } = herald;
  const workspaceId = await findOwner(herald, 'delivery', id);
  const findPast = async () => await herald.history?.find(workspaceId, id);
  const description = await describeDelivery(redis, keyspace.of(workspaceId), id, findPast);
  const log = createDeliveryLog(herald);
  const found = await log.find(workspaceId, id);
  if (!found || !description) throw new NotFoundError('delivery', id);
  const [withWait = description] = await addWaits(herald, [description]);
  return { description: withWait, attempts: found.attempts, readContent: () => log.readContent(found.delivery) };
}
