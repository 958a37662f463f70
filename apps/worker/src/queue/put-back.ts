import { isRedisUnavailable } from '@herald/infra';
import { setTimeout as pause } from 'node:timers/promises';

const PAUSE_MS = 250;
/** Together as long as a job's lock, after which it is another worker's anyhow. */
const TRIES = 80;

/**
 * Puts a job back into the line, again and again while Redis takes no writes: a job that ends with an error BullMQ fails and
 * removes as soon as Redis does take them, and its delivery would wait for an audit.
 * @throws what the last try threw; at once what isn't Redis' state, such as a job that is in another worker's hands
 */
export async function putBack(move: () => Promise<void>, pauseMs = PAUSE_MS): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await move();
      return;
    } catch (error) {
      if (tries === TRIES || !isRedisUnavailable(error)) throw error;
      await pause(pauseMs);
    }
  }
}
