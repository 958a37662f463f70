import { freePort, startProcess, type ReceivedRequest, type RunningProcess } from '@herald/test-kit';
import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { bodyOf } from '../../support/http-request.ts';
import type { Herald } from '../../support/start-herald.ts';
import { createDeliveryClient, type DeliveryClient } from '../../support/delivery-client.ts';
import type { WorkspaceClient } from '../../support/workspace-client.ts';
import type { Sendable } from './forgeries.ts';
import { readExample } from './read-example.ts';

export interface Example {
  /** In the README. */
  name: string;
  /** The README of another kit. */
  readme?: URL;
  /** How it is run, from the folder that it was written to. */
  command: string;
  args: readonly string[];
  /** Makes what is run of it. */
  prepare?: (folder: string) => Promise<void>;
}

export interface RunningExample extends AsyncDisposable {
  workspace: WorkspaceClient;
  deliveries: DeliveryClient;
  receiver: { id: string };
  /** The new one and the old one. */
  secrets: readonly [current: string, previous: string];
  /** What Herald has sent it so far. */
  requests: readonly ReceivedRequest[];
  /** `<event>` of every processing that it has printed for this delivery. */
  processed(deliveryId: string): string[];
  /** Sends it a request as it is, past Herald; the status of its answer. */
  send(request: Sendable): Promise<number>;
  process: RunningProcess;
}

/**
 * An example of the README as the receiver of a new workspace, in the middle of a rotation: it holds the new secret and the
 * old one. Herald speaks TLS only, so a server in front of it ends that, as it would at a customer's.
 */
export async function startExample(
  herald: Herald,
  folder: string,
  { name, readme, command, args, prepare }: Example,
): Promise<RunningExample> {
  const port = await freePort();
  const send: RunningExample['send'] = async ({ headers, rawBody }) => {
    const { host: _host, connection: _connection, 'content-length': _length, ...rest } = headers;
    const url = `http://127.0.0.1:${port}/hooks/herald`;
    const answer = await fetch(url, { method: 'POST', headers: rest, body: new Uint8Array(rawBody) });
    await answer.arrayBuffer();
    return answer.status;
  };
  const front = await herald.startReceiver(send);
  const workspace = await herald.createWorkspace();
  const { id, secret } = await workspace.registerReceiver({ url: front.url });
  const rotated = await workspace.request('POST', `/api/public/webhooks/${id}/secret/rotate`, { body: {} });
  const { secret: newSecret } = bodyOf(rotated, 200) as { secret: string };

  await writeFile(join(folder, name), await readExample(name, readme));
  await prepare?.(folder);
  const running = await startProcess({
    name,
    command,
    args,
    cwd: folder,
    env: {
      HERALD_SECRETS: `${newSecret}, ${secret}\n`,
      PORT: String(port),
      REDIS_URL: herald.server.url,
      HOME: folder,
    },
    readyWhen: (line) => /listening (?:on|at)/i.test(line),
    readyDeadlineMs: 60_000,
  });
  return {
    workspace,
    deliveries: createDeliveryClient(workspace),
    receiver: { id },
    secrets: [newSecret, secret],
    requests: front.requests,
    processed: (deliveryId) =>
      running
        .output()
        .split('\n')
        .flatMap((line) => new RegExp(`processed ${deliveryId} ([a-z_.]+)`).exec(line)?.[1] ?? []),
    send,
    process: running,
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}
