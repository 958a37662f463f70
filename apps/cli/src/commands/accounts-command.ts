import type { WorkspaceId } from '@herald/core';
import { countOf } from '@herald/runtime/text';
import { type AccountDifference, findAccountDifferences, mendAccounts } from '@herald/store/stats/recount-accounts';
import { Command } from 'commander';
import { type CommandDeps, examples, type JsonOption } from '../context/command-deps.ts';
import type { Cell } from '../context/create-output.ts';
import { readWorkspace } from '../context/read-arguments.ts';

type MendOptions = JsonOption & { readonly workspace?: WorkspaceId; readonly yes?: true };

/** `herald accounts`: what workspaces are said to hold, against what they do. */
export function createAccountsCommand({ openHerald, output, startProgress, recordAct }: CommandDeps): Command {
  const accounts = new Command('accounts').description('compare what workspaces are said to hold with what there is');
  accounts
    .command('mend')
    .description('count what workspaces have pending and stored anew, and correct what is said of it')
    .option('--workspace <id>', 'only that of this workspace', readWorkspace)
    .option('--yes', 'do it; without, it only says what differs')
    .addHelpText(
      'after',
      `
After a failover that lost writes, an account may be off by what was lost. It walks all of Redis twice, step by step,
while the service runs, and takes for a difference only what the account didn't move itself meanwhile: of a busy
workspace some may be left for a quieter time.
${examples('herald accounts mend', 'herald accounts mend --workspace ws_x --yes')}`,
    )
    .action(async ({ json, yes, workspace }: MendOptions) => {
      await using herald = await openHerald();
      const progress = startProgress('counting what workspaces hold {bar} {percentage}%');
      const deps = { ...herald, workspaceId: workspace, onProgress: progress.show };
      const differences = await findAccountDifferences(deps).finally(progress.stop);
      if (yes && differences.length > 0) {
        await mendAccounts(herald, differences);
        await recordAct(herald, { action: 'mendAccounts', ...(workspace !== undefined && { workspaceId: workspace }) });
      }
      if (json) {
        output.json({ differences: differences.map(toJson), isDone: yes === true });
        return;
      }
      output.table(COLUMNS, differences.map(toRow), 'Every account says what there is.');
      if (differences.length > 0)
        output.line(`${countOf(differences.length, 'account')} ${yes ? 'mended.' : 'would be mended. --yes does it.'}`);
    });
  return accounts;
}

const COLUMNS = ['workspace', 'pending', 'lacks', 'bytes', 'lacks', 'wrong times'];

function toRow({ workspaceId, pending, bytes, leaving }: AccountDifference): Cell[] {
  return [workspaceId, pending.said, signed(pending.lacks), bytes.said, signed(bytes.lacks), leaving.size];
}

/** What is added to the account. */
function signed(count: number): string {
  return count > 0 ? `+${count}` : String(count);
}

function toJson({ leaving, ...difference }: AccountDifference) {
  return { ...difference, wrongTimes: leaving.size };
}
