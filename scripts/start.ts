import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { toInstructions } from './local/instructions.ts';
import { localFolderOf } from '@herald/config/running-service';
import { openLocalFolder } from './local/local-folder.ts';
import { readLocalSettings } from './local/local-settings.ts';
import { refuseTakenPorts } from './local/refuse-taken-ports.ts';
import { announceService, claimFolder } from './local/running-service.ts';
import { startLocalHerald } from './local/start-local-herald.ts';
import { listenForStop } from './local/listen-for-stop.ts';

const RUINED_STOP_MS = 5_000;

const root = join(import.meta.dirname, '..');

/** Runs until a request to stop (exit code 0), or a failure (1). */
async function run(): Promise<number> {
  const stopRequest = listenForStop(process.env);
  const settings = readLocalSettings(process.env);
  const folder = await openLocalFolder(localFolderOf(root, process.env));
  await claimFolder(folder, settings.api.url);
  await refuseTakenPorts(settings);
  const herald = await startLocalHerald({ root, folder, settings, showLogs: true });
  await announceService(folder, { pid: process.pid, apiUrl: herald.apiUrl, env: herald.variables });
  stopRequest.heraldIsUp();
  console.log(toInstructions(herald));

  const end = await Promise.race([
    stopRequest.requested.then((why) => ({ why, isAsked: true })),
    herald.died.then((why) => ({ why, isAsked: false })),
  ]);
  if (end.isAsked) {
    console.log(`\nStopping: ${end.why}.`);
    await herald.stop();
    console.log('Stopped.');
    return 0;
  }
  // Without Redis the others can't stop in order. Those that are left after a while end with this process.
  console.error(`\n${end.why} Stopping the others.`);
  await Promise.race([herald.stop(), pause(RUINED_STOP_MS)]);
  console.error(`\nStopped: ${end.why}`);
  return 1;
}

try {
  process.exit(await run());
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
