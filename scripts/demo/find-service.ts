import { freePort, type CertificateAuthority } from '@herald/test-kit';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localFolderOf } from '@herald/config/running-service';
import { openLocalFolder } from '../local/local-folder.ts';
import { readLocalSettings } from '../local/local-settings.ts';
import { findRunningService } from '../local/running-service.ts';
import { startLocalHerald } from '../local/start-local-herald.ts';

export interface DemoService extends AsyncDisposable {
  apiUrl: string;
  apiKey: string;
  executorKey: string;
  ca: CertificateAuthority;
  isOwn: boolean;
}

/** The service of `npm start`; if it doesn't run, a new one in a temporary folder, on other ports. */
export async function findService(root: string, env: NodeJS.ProcessEnv): Promise<DemoService> {
  const folder = await openLocalFolder(localFolderOf(root, env));
  const running = findRunningService(folder.dir);
  const [apiKey, executorKey] = [await folder.read('api-key'), await folder.read('executor-key')];
  if (running === undefined || apiKey === undefined || executorKey === undefined) return startOwn(root, env);
  const response = await fetch(`${running.apiUrl}/readyz`, { signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new Error(`the service at ${running.apiUrl} is not ready: ${await response.text()}`);
  return {
    apiUrl: running.apiUrl,
    apiKey,
    executorKey,
    ca: folder.ca,
    isOwn: false,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function startOwn(root: string, env: NodeJS.ProcessEnv): Promise<DemoService> {
  await using cleanUp = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'herald-demo-'));
  cleanUp.defer(() => rm(dir, { recursive: true, force: true }));
  // Variables of the environment are meant for other services, not for this one.
  const { PATH, HOME, LOG_LEVEL } = env;
  const ports = { PORT: String(await freePort()), WORKER_PORT: String(await freePort()) };
  const settings = readLocalSettings({ PATH, HOME, LOG_LEVEL, ...ports });
  const herald = await startLocalHerald({ root, folder: await openLocalFolder(dir), settings, showLogs: false });
  cleanUp.defer(() => herald.stop());
  const owned = cleanUp.move();
  return { ...herald, isOwn: true, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
