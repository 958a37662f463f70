import type { HistoryPool } from '@herald/history/pool/create-history-pool';
import type { HistoryStatus } from '@herald/history/requirements/prepare-history';
import { ConfigError } from '@herald/runtime/env';
import { isErrorLike } from '@herald/runtime/errors';
import { readSettledBacklog } from '@herald/store/lists/history-mark';
import { Command } from 'commander';
import { type CommandDeps, examples, type JsonOption } from '../context/command-deps.ts';
import { toDate } from '../context/create-output.ts';
import { type Herald, readCliConfig } from '../context/open-herald.ts';

const DAY_MS = 86_400_000;
/** Making indexes may take long. */
const STATEMENT_LIMIT_MS = 3_600_000;

/** `herald history`: settled deliveries in PostgreSQL. */
export function createHistoryCommand({ openHerald, output, recordAct, serviceEnv, now }: CommandDeps): Command {
  const history = new Command('history').description('settled deliveries in PostgreSQL, see HISTORY_URL');
  const inHistory = async <T>(work: (pool: HistoryPool) => Promise<T>): Promise<T> => {
    const url = readCliConfig(serviceEnv()).history?.url;
    if (url === undefined) throw new ConfigError('HISTORY_URL must be set: it says where the history is');
    const options = { url, name: 'herald-cli', connections: 2, statementLimitMs: STATEMENT_LIMIT_MS };
    const { createHistoryPool } = await import('@herald/history/pool/create-history-pool');
    const pool = createHistoryPool({ ...options, onError: () => undefined });
    try {
      return await work(pool);
    } catch (error) {
      const reason = isErrorLike(error) ? error.message : String(error);
      throw new ConfigError(`The history can't be used: ${reason}`);
    } finally {
      await pool.end();
    }
  };
  history
    .command('migrate')
    .description('bring the schema up to that of this release, as a worker does when it starts')
    .addHelpText(
      'after',
      `
It works on Redis, too: the audit trail says that the schema was changed.
${examples('HISTORY_URL=postgres://herald@10.0.0.5/herald herald history migrate')}`,
    )
    .action(async ({ json }: JsonOption) => {
      const { createPartitions } = await import('@herald/history/partitions/partitions');
      const { prepareHistory } = await import('@herald/history/requirements/prepare-history');
      // Before anything is changed, since what is changed has to be recorded.
      await using herald = await openHerald({ anyShards: true });
      const migrations = await inHistory(async (pool) => {
        const { ran } = await prepareHistory(pool, 'write');
        await createPartitions(pool).ensureAhead(now());
        return ran;
      });
      if (migrations.length > 0) await recordAct(herald, { action: 'migrateHistory', target: migrations.join(', ') });
      if (json) output.json({ migrations });
      else output.line(migrations.length === 0 ? 'up to date' : `ran ${migrations.join(', ')}`);
    });
  history
    .command('adopt')
    .description('make the history of HISTORY_URL the one of this data, whatever either knew before')
    .addHelpText(
      'after',
      `
For a Redis that took the place of a lost one, and for a history that is begun anew. Nothing is copied from another
history. Two installations must never share one: each would drop the days of both.
${examples('herald history adopt')}`,
    )
    .action(async ({ json }: JsonOption) => {
      const { adoptHistory, prepareHistory } = await import('@herald/history/requirements/prepare-history');
      await using herald = await openHerald();
      const { dataId } = await herald.readHistoryUser();
      const historyId = await inHistory(async (pool) => {
        await prepareHistory(pool, 'write');
        return await adoptHistory(pool, dataId);
      });
      await herald.historyMark.write(historyId);
      await recordAct(herald, { action: 'adoptHistory', target: historyId });
      if (json) output.json({ historyId });
      else output.line(`this data has the history ${historyId} now`);
    });
  history
    .command('retention')
    .description('say that HISTORY_RETENTION is meant, though it is less than half of what it was')
    .option('--yes', 'drop the days that are older than it, with the next round of a worker')
    .addHelpText(
      'after',
      `
Workers take a HISTORY_RETENTION over that is longer, or a little shorter. Without --yes this says how long days are kept.
${examples('HISTORY_RETENTION=7d herald history retention --yes')}`,
    )
    .action(async ({ json, yes = false }: JsonOption & { yes?: boolean }) => {
      const { createPartitions } = await import('@herald/history/partitions/partitions');
      await using herald = await openHerald();
      const wishedMs = herald.config.history?.retentionMs ?? 0;
      const keptMs = await inHistory(async (pool) => {
        const partitions = createPartitions(pool);
        if (yes) await partitions.setRetention(wishedMs);
        return await partitions.agreeOnRetention(wishedMs, now());
      });
      if (yes) await recordAct(herald, { action: 'setHistoryRetention', target: String(wishedMs) });
      if (json) output.json({ keptMs });
      else output.line(`days are kept for ${Math.round(keptMs / DAY_MS)} days`);
    });
  history
    .command('forget')
    .description('end the history of this data: what settles, and what waits for the history, expires after RETENTION')
    .addHelpText(
      'after',
      `
Take HISTORY_URL out everywhere first: a worker that still has it makes the data have a history again. What has moved to
PostgreSQL stays there, and isn't shown.
${examples('herald history forget')}`,
    )
    .action(async ({ json }: JsonOption) => {
      await using herald = await openHerald();
      const hadOne = await herald.historyMark.remove();
      if (hadOne) await recordAct(herald, { action: 'forgetHistory' });
      if (json) output.json({ forgotten: hadOne });
      else output.line(hadOne ? 'this data has no history any more' : 'this data has no history');
    });
  history
    .command('status')
    .description('its schema, its days, and what waits in Redis for it')
    .addHelpText('after', examples('herald history status --json'))
    .action(async ({ json }: JsonOption) => {
      const { readHistoryStatus } = await import('@herald/history/requirements/prepare-history');
      const { retentionMs } = readCliConfig(serviceEnv()).history ?? { retentionMs: 0 };
      const status = await inHistory((pool) => readHistoryStatus(pool, now() - retentionMs));
      await using herald = await openHerald();
      const backlog = await readBacklog(herald);
      const { count, oldestAt, setAside } = backlog;
      if (json) output.json({ ...status, waiting: { count, oldestAt: toDate(oldestAt), setAside } });
      else for (const line of describeHistory(status, backlog, now())) output.line(line);
    });
  return history;
}

async function readBacklog({ redis, keyspace }: Herald): Promise<Backlog> {
  const all = await Promise.all(keyspace.shards.map((keys) => readSettledBacklog(redis, keys)));
  const oldest = all.flatMap(({ oldestAt }) => oldestAt ?? []);
  return {
    count: all.reduce((sum, { count }) => sum + count, 0),
    setAside: all.reduce((sum, { aside }) => sum + aside, 0),
    ...(oldest.length > 0 && { oldestAt: Math.min(...oldest) }),
  };
}

/**
 * Settled deliveries that Redis keeps for the history. `oldestAt`: when the first of them settled, epoch ms. `setAside`: how
 * many of them couldn't be moved, and are tried again each hour.
 */
type Backlog = { readonly count: number; readonly setAside: number; readonly oldestAt?: number };

/** A history in sentences. */
export function describeHistory(status: HistoryStatus, backlog: Backlog, now: number) {
  const { serverVersion, missing, days, overdue } = status;
  const deliveries = days.reduce((sum, day) => sum + day.deliveries, 0);
  const bytes = days.reduce((sum, day) => sum + day.bytes, 0);
  const schema =
    missing.length === 0 ? 'up to date' : `lacks ${missing.join(', ')}: run "herald history migrate" or start a worker`;
  const minutes = Math.round((now - (backlog.oldestAt ?? now)) / 60_000);
  return [
    `PostgreSQL ${serverVersion}, schema ${schema}`,
    days.length === 0
      ? 'no days yet'
      : `${days.length} days, ${days[0]?.day ?? ''} to ${days.at(-1)?.day ?? ''}: about ${deliveries} deliveries, ${Math.round(bytes / 2 ** 20)} MiB`,
    ...(overdue.length === 0
      ? []
      : [
          `HISTORY_RETENTION has ended, and they are still there: ${overdue.join(', ')}; who reads them, or why they stay, is in the log of the workers`,
        ]),
    backlog.count === 0
      ? 'nothing waits in Redis'
      : `${backlog.count} settled deliveries wait in Redis, the first for ${minutes} min`,
    ...(backlog.setAside === 0 ? [] : [`${backlog.setAside} of them were set aside: the log of the workers says why`]),
  ];
}
