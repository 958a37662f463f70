import { Queue, type IQueueBackend } from 'bullmq';
import type { BoardBackend } from './board-backend.ts';

/**
 * BullMQ's own queue on a board's backend.
 * @param name what a board calls it
 */
export function createBoardQueue(name: string, backend: BoardBackend): Queue {
  // Who only looks writes no settings.
  const queue = new Queue(name, { connection: {}, skipMetasUpdate: true }, (): IQueueBackend => backend);
  // Boards name the type with BullMQ's own backend, and work with any.
  return queue as Queue;
}
