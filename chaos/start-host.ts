import { freePort, startReceiver, type CertificateAuthority, type ReceivedRequest } from '@herald/test-kit';
import { assertWebhook } from '../tests/support/find-webhook-breaches.ts';
import type { Mood } from './plan.ts';

/** A request at a host, and its answer. */
export type Arrival = {
  readonly request: ReceivedRequest;
  readonly deliveryId: string;
  readonly answer: number | 'hang' | 'reset';
  /** Index of the host. */
  readonly host: number;
};

/** A host of receivers. Its mood decides its answers; it keeps them with the requests. */
export type Host = AsyncDisposable & {
  readonly origin: string;
  /** In the order of arrival. */
  readonly arrivals: readonly Arrival[];
  set(mood: Mood): Promise<void>;
};

const SLOW_MS = 700;
/** Longer than a quick group may take, and far shorter than a delivery's timeout. */
const LAZY_MS = 1_200;
const RETRY_AFTER_S = 1;

export async function startHost(ca: CertificateAuthority, host: number): Promise<Host> {
  const arrivals: Arrival[] = [];
  let mood: Mood = 'good';
  const port = await freePort();
  const start = () =>
    startReceiver({
      ca,
      port,
      inspect: assertWebhook,
      respond(request, index) {
        const decision = decide(mood, index);
        const answer = typeof decision === 'object' ? decision.status : decision;
        arrivals.push({ request, deliveryId: request.headers['x-service-delivery'] ?? '', answer, host });
        return decision;
      },
    });
  let receiver = await start();
  return {
    origin: receiver.origin,
    arrivals,
    async set(next) {
      if (next === mood) return;
      const wasOpen = mood !== 'refuse';
      mood = next;
      if (next === 'refuse') await receiver.close();
      else if (!wasOpen) receiver = await start();
    },
    [Symbol.asyncDispose]: () => receiver.close(),
  };
}

function decide(mood: Mood, index: number) {
  switch (mood) {
    case 'good':
      return 200;
    case 'slow':
      return { status: 202, delayMs: SLOW_MS };
    case 'lazy':
      return { status: 200, delayMs: LAZY_MS };
    case 'hang':
      return 'hang';
    case 'refuse': // what came in the moment of closing
    case 'reset':
      return 'reset';
    case 'error':
      return 500;
    case 'flap':
      return index % 2 === 0 ? 500 : 204;
    case 'too-many':
      return { status: 429, headers: { 'retry-after': String(RETRY_AFTER_S) } };
  }
}
