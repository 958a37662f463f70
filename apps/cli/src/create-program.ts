import { Command } from 'commander';
import type { CommandDeps } from './context/command-deps.ts';
import { createDeliveriesCommand } from './deliveries/deliveries-command.ts';
import { createDoctorCommand } from './doctor/doctor-command.ts';
import { createKeysCommand } from './keys/keys-command.ts';
import { createQueuesCommand } from './queues/queues-command.ts';
import { createReceiversCommand } from './receivers/receivers-command.ts';
import { createReplayCommand } from './replays/replay-command.ts';
import { createShardsCommand } from './shards/shards-command.ts';
import { createSecretsCommand } from './secrets/secrets-command.ts';

const AFTER = `
It works on the Redis of the service, and reads the same environment: REDIS_URL (redis://127.0.0.1:6379 without it),
REDIS_CLUSTER_NODES or REDIS_SENTINELS,
SHARDS and RETENTION if the service sets them, and SECRETS_KEY for "secrets" and "doctor". No API or worker need run.

Not sure what is wrong?   herald doctor
What waits, and why?      herald queues
Help for one command:     herald deliveries --help`;

/** The command `herald`. */
export function createProgram(deps: CommandDeps): Command {
  const program = new Command('herald')
    .description('Operate Herald: signed webhooks for Task transitions.')
    .addCommand(createDoctorCommand(deps))
    .addCommand(createQueuesCommand(deps))
    .addCommand(createReceiversCommand(deps))
    .addCommand(createDeliveriesCommand(deps))
    .addCommand(createReplayCommand(deps))
    .addCommand(createKeysCommand(deps))
    .addCommand(createShardsCommand(deps))
    .addCommand(createSecretsCommand(deps))
    .addHelpText('after', AFTER);
  complete(program);
  return program;
}

/** Adds the options of every command: a command that is made apart inherits nothing from its parent. */
function complete(command: Command): void {
  command.showHelpAfterError('(--help shows what there is)');
  if (command.commands.length === 0) command.option('--json', 'print one JSON document, for programs');
  for (const each of command.commands) complete(each);
}
