import { closeRedis, connectRedis } from '@herald/store/redis/connect-redis';
import { Queue } from 'bullmq';

/** The queue of BullMQ's own jobs. */
export const BARE_QUEUE = { name: 'deliveries', prefix: '{bare}' } as const;

const AT_A_TIME = 1_000;
const EVENT_STREAM_LENGTH = 1_000;

/** Adds jobs with the ids of deliveries to a queue of stock BullMQ: the floor of a queue's memory. */
export async function addBareJobs(url: string, count: number): Promise<void> {
  const redis = await connectRedis({
    target: { kind: 'single', url },
    use: 'background',
    name: 'bench',
    onError: () => undefined,
  });
  const queue = new Queue(BARE_QUEUE.name, {
    connection: redis,
    prefix: BARE_QUEUE.prefix,
    skipWaitingForReady: true,
    streams: { events: { maxLen: EVENT_STREAM_LENGTH } },
  });
  for (let start = 0; start < count; start += AT_A_TIME) {
    const some = Array.from({ length: Math.min(AT_A_TIME, count - start) }, (_, index) => start + index);
    await queue.addBulk(some.map((index) => ({ name: 'task.check_in', data: {}, opts: { jobId: idOf(index) } })));
  }
  await queue.close();
  await closeRedis(redis);
}

function idOf(index: number): string {
  return `dlv_2z5gq3xk7m4wq6y2bnd5vh${String(index).padStart(8, '0')}`;
}
