import {
  EVENT_NAMES,
  isCallbackId,
  NotFoundError,
  type EndpointId,
  type EventName,
  type WorkspaceId,
} from '@herald/core';
import { createReceiverStore } from '@herald/store/endpoints/receiver-store';
import { Command, Option } from 'commander';
import { examples, type CommandDeps, type JsonOption } from '../context/command-deps.ts';
import { findOwner, type Herald } from '../context/open-herald.ts';
import { readEndpointId, readReceiverId, readWorkspace } from '../context/read-arguments.ts';
import { listReceivers, RECEIVER_COLUMNS, toReceiverRow } from './list-receivers.ts';
import { describeTest } from './describe-test.ts';
import { sendTestTo } from './send-test-to.ts';
import { switchEndpoint } from './switch-endpoint.ts';

type ListOptions = JsonOption & { workspace?: WorkspaceId; urls?: true };

/** `herald receivers`: lists, tests, disables and enables the receivers of customers; the last two also callbacks. */
export function createReceiversCommand({ openHerald, output, startProgress }: CommandDeps): Command {
  const receivers = new Command('receivers').description('list, test, disable and enable the receivers of customers');
  receivers
    .command('list')
    .description('every receiver, and its state; only the origin of its url, since the rest may contain tokens')
    .option('--workspace <id>', 'only those of this workspace', readWorkspace)
    .option('--urls', 'show whole urls')
    .addHelpText('after', examples('herald receivers list', 'herald receivers list --workspace ws_x --urls'))
    .action(async ({ workspace, urls, json }: ListOptions) => {
      const progress = startProgress('looking for receivers {bar} {percentage}%');
      await using herald = await openHerald();
      const list = await listReceivers(herald, workspace, urls === true, progress.show).finally(progress.stop);
      if (json) output.json(list);
      else
        output.table(
          RECEIVER_COLUMNS,
          list.map(toReceiverRow),
          workspace === undefined ? 'No receivers.' : `No receivers in ${workspace}.`,
        );
    });
  receivers
    .command('test')
    .description('have a worker send a webhook.test now, also to a disabled receiver, and print the answer')
    .argument('<id>', 'of the receiver', readReceiverId)
    .addOption(
      new Option('--event <name>', 'send a sample of this event instead').choices(EVENT_NAMES).default('webhook.test'),
    )
    .addHelpText(
      'after',
      examples(
        'herald receivers test wh_01m7wyndtadddfeszmz5b3xx5r',
        'herald receivers test wh_01m7wyndtadddfeszmz5b3xx5r --event task.done',
      ),
    )
    .action(async (id: EndpointId, { json, event }: JsonOption & { event: EventName }) => {
      await using herald = await openHerald();
      const outcome = await sendTestTo(herald, await findReceiver(herald, id), event);
      if (json) output.json({ id, ...outcome });
      const sentence = describeTest(outcome);
      if (!outcome.delivered) output.problem(sentence);
      else if (!json) output.line(sentence);
    });

  const addSwitch = (name: 'enable' | 'disable', description: string, consequenceFor: (id: EndpointId) => string) => {
    const enabled = name === 'enable';
    receivers
      .command(name)
      .description(description)
      .argument('<id>', 'of the receiver (wh_…) or the callback (cb_…)', readEndpointId)
      .addHelpText('after', examples(`herald receivers ${name} wh_01m7wyndtadddfeszmz5b3xx5r`))
      .action(async (id: EndpointId, { json }: JsonOption) => {
        await using herald = await openHerald();
        const isChanged = await switchEndpoint(herald, id, enabled);
        if (json) output.json({ id, enabled, changed: isChanged });
        else if (isChanged) output.line(`${enabled ? 'Enabled' : 'Disabled'} ${id}. ${consequenceFor(id)}`);
        else output.line(`${id} is ${name}d already; nothing was changed.`);
      });
  };
  addSwitch(
    'disable',
    'send nothing more to a receiver or a callback; its pending deliveries end as canceled',
    (id) => `Its pending deliveries end as canceled; "herald receivers enable" undoes this, and ${bringBack(id)}.`,
  );
  addSwitch(
    'enable',
    'send to a disabled receiver or callback again',
    (id) => `From now on it is sent to; ${bringBack(id)}.`,
  );
  return receivers;
}

/** What it missed: a replay is for receivers only. */
function bringBack(id: EndpointId): string {
  if (!isCallbackId(id)) return '"herald replay" brings back what it missed';
  return `"herald deliveries redeliver" brings back each that "herald deliveries list --receiver ${id} --status canceled" shows`;
}

async function findReceiver(herald: Herald, id: EndpointId) {
  const receiver = await createReceiverStore(herald).find(await findOwner(herald, 'receiver', id), id);
  if (!receiver) throw new NotFoundError('receiver', id);
  return receiver;
}
