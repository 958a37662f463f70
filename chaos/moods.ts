import type { ReceivedRequest, Respond } from '@herald/test-kit';
import type { Mood } from './plan.ts';

/** One request at a receiver, and what it was answered. */
export type Arrival = {
  readonly request: ReceivedRequest;
  readonly deliveryId: string;
  readonly answer: number | 'hang' | 'reset';
};

export type MoodyReceiver = {
  readonly respond: Respond;
  /** In the order of arrival. */
  readonly arrivals: readonly Arrival[];
  set(mood: Mood): void;
};

const SLOW_MS = 700;
const RETRY_AFTER_S = 1;

/** A receiver whose answers follow from its mood, and which keeps them with the requests. */
export function createMoodyReceiver(): MoodyReceiver {
  let mood: Mood = 'good';
  const arrivals: Arrival[] = [];
  return {
    arrivals,
    set(next) {
      mood = next;
    },
    respond(request, index) {
      const decision = decide(mood, index);
      const answer = typeof decision === 'object' ? decision.status : decision;
      arrivals.push({ request, deliveryId: request.headers['x-service-delivery'] ?? '', answer });
      return decision;
    },
  };
}

function decide(mood: Mood, index: number) {
  switch (mood) {
    case 'good':
      return 200;
    case 'slow':
      return { status: 202, delayMs: SLOW_MS };
    case 'hang':
      return 'hang';
    case 'error':
      return 500;
    case 'flap':
      return index % 2 === 0 ? 500 : 204;
    case 'reset':
      return 'reset';
    case 'too-many':
      return { status: 429, headers: { 'retry-after': String(RETRY_AFTER_S) } };
  }
}
