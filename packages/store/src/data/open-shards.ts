import { answerWithin, oneAtATime } from '@herald/runtime/async';
import { ConfigError } from '@herald/runtime/env';
import { error, type Finding } from '@herald/runtime/finding';
import type { Logger } from '@herald/runtime/log';
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { LAYOUT } from '../keys/layout.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { randomToken } from '../redis/random-token.ts';
import {
  createLossMark,
  DATA_GONE,
  findUnreadable,
  isUnrecorded,
  judgeLayout,
  judgeLoss,
  LOSS_KNOWN,
} from './data-loss.ts';
import { createProcessPresence, SEEN_EVERY_MS, type ProcessRole } from './find-running.ts';
import {
  createShardRecordStore,
  findShardCounts,
  judgeShards,
  type ShardRecord,
  type ShardRecordStore,
} from './shard-record.ts';
import { takeOverData } from './take-over-data.ts';

type OpenShardsDeps = {
  readonly redis: RedisClient;
  readonly shardCount: number;
  readonly role: ProcessRole;
  /** Epoch ms. */
  readonly now: () => number;
  readonly logger: Logger;
  /** Told whether the data has vanished. */
  readonly metrics: { readonly showLoss: (isLost: boolean) => void };
  /** Called when the data is no longer laid out for this process, which must not touch it any more. */
  readonly onResharded?: () => void;
};

/** A process whose last look is older doesn't touch the data, which may lie elsewhere by now, in ms. */
const SURE_FOR_MS = 10_000;
const AGAIN_AFTER_FAILURE_MS = 250;
const LEAVE_LIMIT_MS = 2_000;

const UNSURE = error(
  'shards_unsure',
  'this process was away for a while, and looks first whether the data is where it was',
);

/**
 * Lets a process start if its SHARDS is the number that the data is laid out for, and keeps looking. The first process
 * on an empty Redis decides the number. A process shows itself before it looks, and resharding looks for processes
 * after it has recorded its beginning: one of the two sees the other. Data that vanishes later is never entered anew
 * while a process runs that had it open: only processes that start after all of these have ended begin with an empty
 * Redis. Data of a former version is taken over first.
 * @throws ConfigError when the data is laid out for another number, is being resharded, has vanished under others, is
 * of a newer version, or is worked on by a process of a former one
 */
export async function openShards(deps: OpenShardsDeps) {
  const { redis, shardCount, role, now, logger, metrics, onResharded } = deps;
  const records = createShardRecordStore(redis);
  const presence = createProcessPresence(redis, now);
  const lossMark = createLossMark(redis);
  const id = randomUUID();
  const refusalOf = (record: ShardRecord) => judgeShards({ record }, shardCount)[0];
  let isFailing = false;
  /** Logs the first of several failures in a row. */
  const noteFailure = (thrown: unknown) => {
    if (!isFailing) logger.warn('shards.look_failed', {}, thrown);
    isFailing = true;
    return false;
  };
  const leave = () => presence.leave(role, id).catch(() => undefined);
  // A Redis that is full takes no sign, but must still be read and emptied.
  const show = () => presence.show(role, id).then(() => true, noteFailure);
  await show();
  let openedId: string;
  try {
    const record = await records.read();
    if (isUnrecorded(record) && (await lossMark.isThere())) throw new ConfigError(LOSS_KNOWN.sentence);
    const refusal = refusalOf(await learnRecord(redis, records, shardCount));
    if (refusal) throw new ConfigError(refusal.sentence);
    await takeOverData({ redis, records, presence, logger, now });
    openedId = await records.identify(randomToken());
  } catch (thrown) {
    await leave();
    throw thrown;
  }

  let seenAt = performance.now();
  let resharded: Finding | undefined;
  let lost: Finding | undefined;
  const showLoss = (loss: Finding | undefined) => {
    metrics.showLoss(loss !== undefined);
    if (loss) logger.error('data.lost', { code: loss.code, sentence: loss.sentence });
    else logger.info('data.back');
  };
  const look = oneAtATime(async () => {
    const at = performance.now();
    const [hasShown, known] = await Promise.all([show(), records.readKnown()]);
    if (hasShown) isFailing = false;
    const loss = judgeLoss(known, openedId);
    if (loss === DATA_GONE) await lossMark.set().catch(noteFailure);
    else if (!loss && known.dataId === undefined) await records.identify(openedId);
    if (loss?.sentence !== lost?.sentence) showLoss(loss);
    lost = loss;
    const problem = refusalOf(known.record) ?? judgeLayout(known.record);
    // Other data was not resharded, whatever number it is laid out for.
    const found = loss ? undefined : problem;
    if (found && !resharded) {
      logger.error('shards.resharded', { code: found.code, sentence: found.sentence });
      onResharded?.();
    }
    resharded = found;
    seenAt = at;
  });
  const stopping = new AbortController();
  const keepLooking = async () => {
    for (let afterMs = SEEN_EVERY_MS; ;) {
      await wait(afterMs, undefined, { signal: stopping.signal });
      const hasLooked = await look().then(() => true, noteFailure);
      afterMs = hasLooked ? SEEN_EVERY_MS : AGAIN_AFTER_FAILURE_MS;
    }
  };
  // Ends when it is aborted, after a look that is under way.
  const lookingEnded = keepLooking().catch(() => undefined);
  const findProblem = () => lost ?? resharded ?? (performance.now() - seenAt > SURE_FOR_MS ? UNSURE : undefined);
  return {
    /** Which data it is. */
    dataId: openedId,
    /** Why the data must not be touched now; undefined while it may. No I/O. */
    findProblem,
    /** The same, but looks first when the last look is too long ago. */
    async makeSure(): Promise<Finding | undefined> {
      if (findProblem() === UNSURE) await look().catch(noteFailure);
      return findProblem();
    },
    /**
     * Whether Redis has the data that this process opened, as it says now. While it hasn't, what isn't found says
     * nothing. Tells of a loss at once.
     */
    isHere: async (): Promise<boolean> => {
      if (!judgeLoss(await records.readKnown(), openedId)) return true;
      await look().catch(noteFailure);
      return false;
    },
    close: async (): Promise<void> => {
      stopping.abort();
      // While Redis is away, leaving would wait for it. The sign then expires by itself.
      await answerWithin(LEAVE_LIMIT_MS, lookingEnded.then(leave), () => undefined);
    },
  };
}

/** The right of a process to work on the data. It ends when the data is resharded, or vanishes. */
export type OpenShards = Awaited<ReturnType<typeof openShards>>;

/**
 * Reads the record. An empty Redis first gets this process's number and layout. A Redis with data gets the number if it
 * fits; its layout is recorded when its data is taken over.
 * @throws ConfigError when the data is laid out for another number, or is of 0.1.0
 */
export async function learnRecord(redis: RedisClient, records: ShardRecordStore, shardCount: number) {
  const record = await records.read();
  if (!isUnrecorded(record)) return record;
  const unreadable = await findUnreadable(redis, record);
  if (unreadable) throw new ConfigError(unreadable.sentence);
  const counts = await findShardCounts(redis);
  const found = judgeShards({ record, counts }, shardCount);
  const refusal = found.find(({ level }) => level === 'error');
  if (refusal) throw new ConfigError(refusal.sentence);
  return await records.enter(shardCount, counts.sampled > 0 ? undefined : LAYOUT);
}
