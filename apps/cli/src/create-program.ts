import { BUILD } from '@herald/runtime/version';
import { Command } from 'commander';
import { createAuditCommand } from './commands/audit-command.ts';
import type { CommandDeps } from './context/command-deps.ts';
import { createAccountsCommand } from './commands/accounts-command.ts';
import { createDeliveriesCommand } from './commands/deliveries-command.ts';
import { createDoctorCommand } from './commands/doctor-command.ts';
import { createHistoryCommand } from './commands/history-command.ts';
import { createKeysCommand } from './commands/keys-command.ts';
import { createLinksCommand } from './commands/links-command.ts';
import { createQueuesCommand } from './commands/queues-command.ts';
import { createReceiversCommand } from './commands/receivers-command.ts';
import { createReplayCommand } from './commands/replay-command.ts';
import { hideCredentials, type OutputStream } from './context/create-output.ts';
import { createShardsCommand } from './commands/shards-command.ts';
import { createSecretsCommand } from './commands/secrets-command.ts';

const AFTER = `
It works on the Redis of the service and reads the same variables: REDIS_URL,
REDIS_CLUSTER_NODES or REDIS_SENTINELS; SHARDS and RETENTION, if the service
sets them; HISTORY_URL, if it has a history; SECRETS_KEY for "secrets" and
"doctor". Without an address it uses the service that "npm start" runs, or else
redis://127.0.0.1:6379.
No API and no worker needs to run.

Not sure what is wrong?   herald doctor
What waits, and why?      herald queues
Who changed what?         herald audit
Help for one command:     herald deliveries --help`;

type Streams = { readonly stdout: OutputStream; readonly stderr: OutputStream };

/** The command `herald`. What ends it early, such as --help or a mistake, throws a CommanderError. */
export function createProgram(deps: CommandDeps, streams: Streams): Command {
  const program = new Command('herald')
    .description('Operate Herald: signed webhooks for Task transitions.')
    .version(BUILD, '-v, --version', 'print the version, and the commit of the build')
    .addCommand(createDoctorCommand(deps))
    .addCommand(createQueuesCommand(deps))
    .addCommand(createReceiversCommand(deps))
    .addCommand(createDeliveriesCommand(deps))
    .addCommand(createReplayCommand(deps))
    .addCommand(createKeysCommand(deps))
    .addCommand(createLinksCommand(deps))
    .addCommand(createAuditCommand(deps))
    .addCommand(createAccountsCommand(deps))
    .addCommand(createShardsCommand(deps))
    .addCommand(createSecretsCommand(deps))
    .addCommand(createHistoryCommand(deps))
    .addHelpText('after', AFTER);
  complete(program, streams);
  return program;
}

/** Sets up every command: one that is made apart inherits nothing from its parent. */
function complete(command: Command, streams: Streams): void {
  const { stdout, stderr } = streams;
  command.exitOverride();
  command.configureOutput({
    writeOut: (text) => stdout.write(text),
    writeErr: (text) => stderr.write(hideCredentials(text)),
  });
  command.showHelpAfterError('(--help shows what there is)');
  if (command.commands.length === 0) command.option('--json', 'print one JSON document, for programs');
  for (const each of command.commands) complete(each, streams);
}
