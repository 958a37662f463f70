import type { WorkspaceId } from '@herald/core';
import { createPortalLinkStore, makerOf, type PortalLink } from '@herald/store/access/portal-link-store';
import { Command } from 'commander';
import { type CommandDeps, examples, type JsonOption } from '../context/command-deps.ts';
import { type Cell, sayUntold } from '../context/create-output.ts';
import { readPortalLinkId, readWorkspace } from '../context/read-arguments.ts';

/** `herald links`: the links by which people come into the console, whoever made them. */
export function createLinksCommand({ openHerald, output, recordAct }: CommandDeps): Command {
  const links = new Command('links').description('list and end the portal links of customers and operators');
  links
    .command('list')
    .description('every portal link that works now, by its id: never its token')
    .option('--workspace <id>', 'only those of this workspace', readWorkspace)
    .addHelpText('after', examples('herald links list', 'herald links list --workspace ws_x'))
    .action(async ({ workspace, json }: JsonOption & { workspace?: WorkspaceId }) => {
      await using herald = await openHerald();
      const store = createPortalLinkStore(herald);
      const list: PortalLink[] = [];
      if (workspace !== undefined) list.push(...(await store.list(workspace)));
      else for await (const some of store.listAll()) list.push(...some);
      if (json) output.json(list.map(toLinkJson));
      else
        output.table(
          COLUMNS,
          list.map(toLinkRow),
          workspace === undefined ? 'No portal links.' : `No portal links to ${workspace}.`,
        );
    });
  links
    .command('revoke')
    .description('end a portal link at once; its id is in the list, in the log and in the audit trail')
    .argument('<id>', 'of the portal link', readPortalLinkId)
    .addHelpText('after', examples('herald links revoke plk_0123456789abcdef'))
    .action(async (id: string, { json }: JsonOption, command: Command) => {
      await using herald = await openHerald();
      const store = createPortalLinkStore(herald);
      const workspaceId = await store.findWorkspace(id);
      const told = workspaceId === undefined ? undefined : await store.revoke(workspaceId, id);
      if (workspaceId === undefined || !told) {
        return command.error(
          `error: there is no portal link ${id}: it has ended, or never was; herald links list shows those there are`,
        );
      }
      await recordAct(herald, { action: 'revokePortalLink', target: id, workspaceId });
      if (json) output.json({ id, workspaceId, revoked: true });
      else output.line(`revoked ${id} of ${workspaceId}`);
      sayUntold(output, told);
    });
  return links;
}

function toLinkJson(link: PortalLink) {
  const { id, workspaceId, readOnly, operator, createdAt, expiresAt } = link;
  const times = { createdAt: new Date(createdAt), expiresAt: new Date(expiresAt) };
  return { id, workspaceId, readOnly, createdBy: makerOf(link), operator, ...times };
}

const COLUMNS = ['id', 'workspace', 'may', 'made by', 'created', 'expires'];

function toLinkRow(link: PortalLink): Cell[] {
  const { id, workspaceId, readOnly, operator, createdAt, expiresAt } = link;
  const maker = [makerOf(link), operator].filter(Boolean).join(' ');
  return [id, workspaceId, readOnly ? 'read' : 'change', maker, new Date(createdAt), new Date(expiresAt)];
}
