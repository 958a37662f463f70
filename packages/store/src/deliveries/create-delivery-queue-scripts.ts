import { readLoadedDeliveries } from './delivery-record.ts';
import { DUE_AGAIN_LUA, LOAD_LUA } from './delivery-scripts.ts';

/**
 * What the queue needs to know of deliveries: how each is read when it is reserved (a `LoadReply`, or undefined when that
 * failed), and when one is due again of which nothing was recorded.
 */
export function createDeliveryQueueScripts() {
  return { loadLua: `${LOAD_LUA}${DUE_AGAIN_LUA}`, readRows: readLoadedDeliveries };
}
