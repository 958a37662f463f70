import { waitFor } from '@herald/test-kit';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { openApiClient } from './api-client.ts';
import { checkIn, reportInBatches, START, type ReportedItem } from './executor.ts';
import { prepareWorkspaces } from './prepare-workspaces.ts';
import { startWorker, type HeraldEnv } from './start-herald.ts';

const DEADLINE_MS = 1_800_000;

/**
 * Accepts one delivery for each of many destinations. After a failed attempt it waits for a day. Everything goes
 * through the API and a worker, so it works with any build. The destinations are the callbacks of as many Tasks.
 */
export async function occupyDestinations(apiPort: number, env: HeraldEnv, count: number): Promise<void> {
  await using host = await startHangingUp();
  const callbackUrl = (index: number) => `https://${loopbackAddress(index)}:${host.port}/hook`;
  const { executorKey, workspaces } = await prepareWorkspaces(apiPort, env, [
    { id: 'ws_destinations', receivers: [], tasks: count, callbackUrl },
  ]);
  const taskIds = workspaces.flatMap((workspace) => workspace.taskIds);
  await using executor = openApiClient({ port: apiPort, key: executorKey, connections: 8 });
  const items = taskIds.flatMap((taskId): ReportedItem[] => [
    { taskId, report: START },
    { taskId, report: checkIn('once') },
  ]);
  await reportInBatches(executor, items, { batch: 100, width: 8 });
  // It stops in order, and so records what it has learned about the destinations.
  await using worker = await startWorker({ env, variables: { RETRY_SCHEDULE: '1d' } });
  await waitFor('every destination to be tried', () => worker.hasExited() || host.tried() >= count, DEADLINE_MS);
  if (worker.hasExited()) throw new Error(`the worker ended\n${worker.tail()}`);
}

type HangingUp = AsyncDisposable & { readonly port: number; readonly tried: () => number };

/** A port at every loopback address that closes each connection at once. */
async function startHangingUp(): Promise<HangingUp> {
  const addresses = new Set<string>();
  const server = createServer((socket) => {
    addresses.add(socket.localAddress ?? '');
    socket.on('error', () => undefined).resetAndDestroy();
  });
  server.listen(0, '0.0.0.0', 1_024);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    tried: () => addresses.size,
    [Symbol.asyncDispose]: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}

/** From 127.1.0.0 on; all of 127.0.0.0/8 is this machine on Linux. */
function loopbackAddress(index: number): string {
  return `127.${1 + Math.floor(index / 65_536)}.${Math.floor(index / 256) % 256}.${index % 256}`;
}
