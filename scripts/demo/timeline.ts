import { verify, verifyStandard } from '@herald/receiver';
import type { ReceivedRequest } from '@herald/test-kit';

export interface Arrival {
  endpoint: string;
  event: string;
  deliveryId: string;
  problems: string[];
  isDuplicate: boolean;
}

export interface Timeline {
  readonly arrivals: readonly Arrival[];
  /** Prints a step of the demo. */
  note(text: string): void;
  /** Names an endpoint and its secret, so that its requests can be verified. */
  trust(endpoint: string, secret: unknown): void;
  /** Judges one request, and prints it. */
  arrive(endpoint: string, request: ReceivedRequest): void;
}

/** Prints events at once, with the milliseconds since the start. */
export function createTimeline(print: (line: string) => void): Timeline {
  const startedAt = performance.now();
  const secrets = new Map<string, string>();
  const arrivals: Arrival[] = [];
  const at = () => `${Math.round(performance.now() - startedAt)} ms`.padStart(9);
  return {
    arrivals,
    note(text) {
      print(`${at()}  · ${text}`);
    },
    trust(endpoint, secret) {
      if (typeof secret !== 'string') throw new Error(`the API gave no signing secret for the ${endpoint}`);
      secrets.set(endpoint, secret);
    },
    arrive(endpoint, request) {
      const secret = secrets.get(endpoint);
      const deliveryId = request.headers['x-service-delivery'] ?? 'none';
      const arrival = {
        endpoint,
        event: request.headers['x-service-event'] ?? 'none',
        deliveryId,
        problems: secret === undefined ? [`no secret is known for ${endpoint}`] : judgeRequest(request, secret),
        isDuplicate: arrivals.some((earlier) => earlier.deliveryId === deliveryId),
      };
      arrivals.push(arrival);
      const verdict = arrival.problems.length === 0 ? 'verified' : `NOT VERIFIED: ${arrival.problems.join('; ')}`;
      const { event, isDuplicate } = arrival;
      print(
        `${at()}  → ${event.padEnd(21)} ${endpoint.padEnd(9)} ${deliveryId}  ${verdict}${isDuplicate ? ', DUPLICATE' : ''}`,
      );
    },
  };
}

/** Missing, repeated and unverified arrivals. `expected` has pairs of an endpoint and an event. */
export function findFaults(arrivals: readonly Arrival[], expected: readonly (readonly [string, string])[]): string[] {
  const names = new Set(
    [...expected, ...arrivals.map((a) => [a.endpoint, a.event] as const)].map((pair) => pair.join(' ← ')),
  );
  const counts = [...names].map((name) => {
    const wanted = expected.filter((pair) => pair.join(' ← ') === name).length;
    const came = arrivals.filter((a) => `${a.endpoint} ← ${a.event}` === name).length;
    return came === wanted ? [] : [`${name}: came ${came} times instead of ${wanted}`];
  });
  const doubles = arrivals.filter((a) => a.isDuplicate).map((a) => `${a.deliveryId} came more than once`);
  const unverified = arrivals
    .filter((a) => a.problems.length > 0)
    .map((a) => `${a.deliveryId}: ${a.problems.join('; ')}`);
  return [...counts.flat(), ...doubles, ...unverified];
}

/** The problems of a webhook that claims to be from Herald; none when a receiver may trust it. */
function judgeRequest({ headers, rawBody }: ReceivedRequest, secret: string): string[] {
  const problems: string[] = [];
  if (!verify(rawBody, headers, secret)) problems.push('x-service-signature is wrong');
  if (!verifyStandard(rawBody, headers, secret)) problems.push('webhook-signature is wrong or too old');
  if (headers['webhook-id'] !== headers['x-service-delivery']) problems.push('webhook-id is not the delivery id');
  return problems;
}
