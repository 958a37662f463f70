import { freePort, type Receiver } from '@herald/test-kit';
import { createDeliveryClient, type Emitted } from '../../support/delivery-client.ts';
import { OPERATOR_ENV } from '../../support/operator-client.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import type { RegisteredReceiver, WorkspaceClient } from '../../support/workspace-client.ts';
import { backlogOf, destinationOf, emitMany } from '../fleet/fleet.ts';

/** What must show nowhere: parts of urls, what receivers answered, what executors and customers wrote. */
export const CANARIES = [
  'path-canary',
  'query-canary',
  'answer-canary',
  'description-canary',
  'summary-canary',
  'input-canary',
];

const ANSWER = { status: 503, body: 'answer-canary' };

export interface Scene extends AsyncDisposable {
  readonly herald: Herald;
  readonly workspace: WorkspaceClient;
  readonly receiver: Receiver;
  /** Its first try failed, the next one is an hour away. */
  readonly delayed: Emitted & { readonly deliveryId: string; readonly host: string };
  /** Its tries are used up. */
  readonly failed: Emitted & { readonly deliveryId: string };
  /** A destination that doesn't answer, with some deliveries that wait for it. */
  readonly backlog: { readonly destination: string; readonly host: string; readonly count: number };
  /** Every signing secret and API key there is. */
  readonly secrets: readonly string[];
}

/** One of everything that an operator may meet, in a Herald whose workers are gone, so that nothing moves. */
export async function startScene(env: Record<string, string> = {}): Promise<Scene> {
  const herald = await startHerald({ workers: 0, env: { ...OPERATOR_ENV, ...env } });
  try {
    const secrets: string[] = [];
    const register = async (workspace: WorkspaceClient, origin: string): Promise<RegisteredReceiver> => {
      const url = `${origin}/path-canary?token=query-canary`;
      const receiver = await workspace.registerReceiver({ url, description: 'description-canary' });
      secrets.push(receiver.secret, workspace.key);
      return receiver;
    };
    const receiver = await herald.startReceiver([ANSWER]);
    const settle = async (schedule: string, status: string, workspace: WorkspaceClient) => {
      const registered = await register(workspace, receiver.origin);
      const worker = await herald.startWorker({ RETRY_SCHEDULE: schedule });
      const client = createDeliveryClient(workspace);
      const emitted = await client.emit({ input: { text: 'input-canary' } });
      const deliveryId = emitted.to(registered);
      await client.waitUntil(deliveryId, (delivery) => delivery.status === status && delivery.attempts.length > 0);
      await worker.stop();
      return { ...emitted, deliveryId };
    };
    const failed = await settle('', 'failed', await herald.createWorkspace());
    const workspace = await herald.createWorkspace();
    const delayed = await settle('1h', 'pending', workspace);

    const silent = await herald.createWorkspace();
    const host = `127.0.0.1:${await freePort()}`;
    const registered = await register(silent, `https://${host}`);
    const destination = await destinationOf(herald.redis, registered.id);
    const worker = await herald.startWorker({ RETRY_SCHEDULE: '1h' });
    // Five go out and are not answered; what comes after the fifth waits.
    for (let index = 0; index < 6; index++) await emitMany(herald, silent, 1);
    await herald.waitForLog('destination.breaker_opened', worker);
    await worker.stop();
    await emitMany(herald, silent, 3);
    const count = await backlogOf(herald.redis, destination);
    secrets.push(herald.executor.key, OPERATOR_ENV.OPERATOR_PASSWORD);
    return {
      ...{ herald, workspace, receiver, failed, secrets },
      delayed: { ...delayed, host: new URL(receiver.url).host },
      backlog: { destination, host, count },
      [Symbol.asyncDispose]: () => herald[Symbol.asyncDispose](),
    };
  } catch (error) {
    await herald[Symbol.asyncDispose]();
    throw error;
  }
}
