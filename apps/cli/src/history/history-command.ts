import { ConfigError } from '@herald/runtime/env/env';
import { isErrorLike } from '@herald/runtime/errors/is-error-like';
import type { HistoryPool } from '@herald/history/pool/create-history-pool';
import { readSettledBacklog } from '@herald/store/backlog/settled-backlog';
import { Command } from 'commander';
import { examples, type CommandDeps, type JsonOption } from '../context/command-deps.ts';
import { readCliConfig, type Herald } from '../context/open-herald.ts';
import { toDate } from '../output/time-text.ts';
import { describeHistory, type Backlog } from './describe-history.ts';

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
        const ran = await prepareHistory(pool, 'write');
        await createPartitions(pool).ensureAhead(now());
        return ran;
      });
      if (migrations.length > 0) await recordAct(herald, { action: 'migrateHistory', target: migrations.join(', ') });
      if (json) output.json({ migrations });
      else output.line(migrations.length === 0 ? 'up to date' : `ran ${migrations.join(', ')}`);
    });
  history
    .command('status')
    .description('its schema, its days, and what waits in Redis for it')
    .addHelpText('after', examples('herald history status --json'))
    .action(async ({ json }: JsonOption) => {
      const { readHistoryStatus } = await import('@herald/history/requirements/read-history-status');
      const status = await inHistory(readHistoryStatus);
      await using herald = await openHerald();
      const backlog = await readBacklog(herald);
      const { count, oldestAt } = backlog;
      if (json) output.json({ ...status, waiting: { count, oldestAt: toDate(oldestAt) } });
      else for (const line of describeHistory(status, backlog, now())) output.line(line);
    });
  return history;
}

async function readBacklog({ redis, keyspace }: Herald): Promise<Backlog> {
  const all = await Promise.all(keyspace.shards.map((keys) => readSettledBacklog(redis, keys)));
  const oldest = all.flatMap(({ oldestAt }) => oldestAt ?? []);
  return {
    count: all.reduce((sum, { count }) => sum + count, 0),
    ...(oldest.length > 0 && { oldestAt: Math.min(...oldest) }),
  };
}
