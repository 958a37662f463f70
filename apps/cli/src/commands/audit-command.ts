import type { AuditQuery } from '@herald/core';
import { type AuditEntry, createAuditTrail, DOER } from '@herald/store/access/audit-trail';
import { Command } from 'commander';
import { type CommandDeps, examples, type JsonOption } from '../context/command-deps.ts';
import type { Cell } from '../context/create-output.ts';
import { argumentReader, readLimit, readWorkspace, timeReader } from '../context/read-arguments.ts';

type Options = JsonOption & Pick<AuditQuery, 'workspaceId' | 'by' | 'since' | 'limit'> & { workspace?: string };

const DEFAULT_LIMIT = 50;
const COLUMNS = ['when', 'who', 'what', 'on what', 'workspace', 'from', 'request'];

const readDoer = argumentReader(
  (text) => (DOER.test(text) ? text : undefined),
  'must be the id of a key (key_…) or of a portal link (plk_…), operator, or cli',
);

/** `herald audit`: who changed what. */
export function createAuditCommand({ openHerald, output, now }: CommandDeps): Command {
  return new Command('audit')
    .description('who changed what, when and from where, newest first')
    .option('--workspace <id>', 'only what was done to this workspace', readWorkspace)
    .option('--since <time>', 'done since then: a time, or how long ago, such as 2h', timeReader(now))
    .option('--by <doer>', 'only what this one did: key_…, plk_…, operator or cli', readDoer)
    .option('--limit <n>', 'at most so many', readLimit, DEFAULT_LIMIT)
    .addHelpText(
      'after',
      examples(
        'herald audit --since 2h',
        'herald audit --workspace ws_x',
        'herald audit --by key_0123456789abcdef --json',
      ),
    )
    .action(async ({ workspace, since, by, limit, json }: Options) => {
      await using herald = await openHerald();
      const trail = createAuditTrail({ ...herald, length: herald.config.auditLength });
      const { entries, next, isPartial } = await trail.find({ workspaceId: workspace, since, by, limit });
      if (json) output.json(entries.map(toJson));
      else output.table(COLUMNS, entries.map(toRow), 'Nobody has changed anything that the audit trail still knows.');
      if (isPartial) output.note('The history cannot be reached: entries that have left Redis are missing.');
      if (next !== undefined) output.note(`There may be more than these ${limit}: --limit shows more, --since fewer.`);
    });
}

function toJson({ id, at, by, user, action, target, workspaceId, address, requestId, fields, reason }: AuditEntry) {
  // Each name is there, whether or not there is a value.
  return { id, at: new Date(at), by, user, action, target, workspaceId, fields, reason, address, requestId };
}

function toRow({ at, by, user, action, target, workspaceId, address, requestId, fields, reason }: AuditEntry): Cell[] {
  const who = user === undefined ? by : `${by} ${user}`;
  const what = [action, ...(fields ? [fields.join(', ')] : []), ...(reason === undefined ? [] : [`"${reason}"`])];
  return [new Date(at), who, what.join(' '), target, workspaceId, address, requestId];
}
