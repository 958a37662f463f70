import { join } from 'node:path';
import { localFolderOf } from '@herald/config/running-service';
import { runCommand } from './run-command.ts';

const { stdout, stderr, env } = process;

// The reader of a pipe may stop reading: "herald deliveries list | head".
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

const { code, hasLeftovers } = await runCommand(process.argv.slice(2), {
  openStdin: () => process.stdin,
  stdout,
  stderr,
  env,
  localFolder: localFolderOf(join(import.meta.dirname, '../../..'), env),
  onInterrupt: (listener) => process.once('SIGINT', listener),
});
process.exitCode = code;
if (hasLeftovers) process.exit();
