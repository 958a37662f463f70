import { freePort, type Receiver } from '@herald/test-kit';
import { createDeliveryClient, type Emitted } from '../../support/delivery-client.ts';
import { shardKeys } from '../../support/delivery-state.ts';
import { OPERATOR_ENV } from '../../support/operator-client.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import type { RegisteredReceiver, WorkspaceClient } from '../../support/workspace-client.ts';
import { emitMany } from '../fleet/fleet.ts';

/** What must show nowhere: parts of urls, what executors and customers wrote. */
export const CANARIES = ['path-canary', 'query-canary', 'description-canary', 'summary-canary', 'input-canary'];

/** What a receiver answered is shown as the log of a delivery, and nowhere else. */
export const ANSWER_CANARY = 'answer-canary';

export interface Scene extends AsyncDisposable {
  readonly herald: Herald;
  readonly workspace: WorkspaceClient;
  readonly receiver: Receiver;
  /** It got 500 twice, and the next try is an hour away. */
  readonly delayed: Emitted & { readonly deliveryId: string; readonly host: string };
  /** Its tries are used up. */
  readonly failed: Emitted & { readonly deliveryId: string };
  /** A receiver that doesn't answer, and one of the deliveries that wait until its next probe. */
  readonly paused: {
    readonly host: string;
    readonly deliveryId: string;
    readonly nextProbeAt: number;
  };
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
    const receiver = await herald.startReceiver([
      { status: 503, body: ANSWER_CANARY },
      { status: 500, body: `first ${ANSWER_CANARY}` },
      { status: 500, body: `second ${ANSWER_CANARY}` },
    ]);
    const settle = async (schedule: string, status: string, attempts: number, workspace: WorkspaceClient) => {
      const registered = await register(workspace, receiver.origin);
      const worker = await herald.startWorker({ RETRY_SCHEDULE: schedule });
      const client = createDeliveryClient(workspace);
      const emitted = await client.emit({ input: { text: 'input-canary' } });
      const deliveryId = emitted.to(registered);
      await client.waitUntil(
        deliveryId,
        (delivery) => delivery.status === status && delivery.attempts.length === attempts,
      );
      await worker.stop();
      return { ...emitted, deliveryId };
    };
    const failed = await settle('', 'failed', 1, await herald.createWorkspace());
    const workspace = await herald.createWorkspace();
    const delayed = await settle('100ms,1h', 'pending', 2, workspace);

    const silent = await herald.createWorkspace();
    const host = `127.0.0.1:${await freePort()}`;
    const registered = await register(silent, `https://${host}`);
    const worker = await herald.startWorker({ RETRY_SCHEDULE: '1h' });
    // The fifth that goes out and is not answered opens the breaker.
    await emitMany(herald, silent, 6);
    await herald.waitForLog('endpoint.breaker_opened', worker);
    await worker.stop();
    const nextProbeAt = Date.now() + 3_600_000;
    await herald.redis.hset(shardKeys().queue.group(registered.id), 'probe', nextProbeAt);
    const waiting = await createDeliveryClient(silent).emit();
    secrets.push(herald.executor.key, OPERATOR_ENV.OPERATOR_PASSWORD);
    return {
      herald,
      workspace,
      receiver,
      failed,
      secrets,
      delayed: { ...delayed, host: new URL(receiver.url).host },
      paused: { host, deliveryId: waiting.to(registered), nextProbeAt },
      [Symbol.asyncDispose]: () => herald[Symbol.asyncDispose](),
    };
  } catch (error) {
    await herald[Symbol.asyncDispose]();
    throw error;
  }
}
