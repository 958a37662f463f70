import { randomUUID } from 'node:crypto';
import { ConfigError } from '@herald/runtime/env/env';
import type { Finding } from '@herald/runtime/findings/finding';
import type { RedisClient } from '../redis/connect-redis.ts';
import { findShardCounts } from '../redis/find-shard-counts.ts';
import { createLossMark } from '../shards/loss-mark.ts';
import { DATA_GONE, isUnrecorded, judgeLoss, LOSS_KNOWN } from '../shards/judge-loss.ts';
import { judgeShards } from '../shards/judge-shards.ts';
import { answerWithin } from '@herald/runtime/async/answer-within';
import { createProcessPresence, SEEN_EVERY_MS, type ProcessRole } from '../shards/process-presence.ts';
import { createShardRecordStore, type ShardRecord, type ShardRecordStore } from '../shards/shard-record.ts';
import { randomToken } from '../redis/random-token.ts';
import { LAYOUT } from '../redis/layout.ts';
import { judgeLayout } from './find-layout-problem.ts';
import { hasFormerKeys } from './former-keys.ts';
import { takeOverData, type UpgradeEvents } from './take-over-data.ts';

export type OpenShardsDeps = {
  readonly redis: RedisClient;
  readonly shardCount: number;
  readonly role: ProcessRole;
  /** Epoch ms. */
  readonly now: () => number;
  readonly report: {
    /** Looking, or showing itself, fails from now on; told once, until it goes well again. */
    readonly failed: (error: unknown) => void;
    /** The data is not, or no longer, laid out for this process: it must not touch it any more. Told once. */
    readonly resharded: (finding: Finding) => void;
    /** The data has vanished, or (undefined) is there again. Told once each time. */
    readonly lost: (finding: Finding | undefined) => void;
    /** Data of a former version is taken over before this process works on it. */
    readonly upgrade: UpgradeEvents;
  };
};

/** A process' right to work on the data, which ends when it is resharded, or vanishes. */
export type OpenShards = {
  /** Why the data must not be touched now; undefined while it may. No I/O. */
  readonly findProblem: () => Finding | undefined;
  /** The same, but who was away for a while looks first. */
  readonly makeSure: () => Promise<Finding | undefined>;
  readonly close: () => Promise<void>;
};

/** Who has not seen for so long that the data is where it was might write into a place that is no more, in ms. */
const SURE_FOR_MS = 10_000;
const AGAIN_AFTER_FAILURE_MS = 250;
const LEAVE_LIMIT_MS = 2_000;

const UNSURE: Finding = {
  level: 'error',
  code: 'shards_unsure',
  sentence: 'this process was away for a while, and looks first whether the data is where it was',
};

/**
 * Lets a process start whose SHARDS is what the data is laid out for, and keeps looking. The first process on an empty Redis
 * decides. It shows itself before it looks, as resharding looks for processes after it has said that it begins: one of
 * both sees the other. Data that vanishes afterwards is never entered anew while a process runs that had it open: an empty
 * Redis is begun with only by processes that are started after all of those have ended. Data of a former version is taken over first.
 * @throws ConfigError when the data is laid out for another number, is being resharded, has vanished under others, is
 * of a newer version, or is worked on by a process of a former one
 */
export async function openShards({ redis, shardCount, role, now, report }: OpenShardsDeps): Promise<OpenShards> {
  const records = createShardRecordStore(redis);
  const presence = createProcessPresence(redis, now);
  const lossMark = createLossMark(redis);
  const id = randomUUID();
  const refusalOf = (record: ShardRecord) => judgeShards({ record }, shardCount)[0];
  // That another process takes over what a former version has left again harms nobody who works meanwhile.
  const problemOf = (record: ShardRecord) =>
    refusalOf(record) ?? (record.upgradingTo === LAYOUT ? undefined : judgeLayout(record));
  let isFailing = false;
  const noteFailure = (error: unknown) => {
    if (!isFailing) report.failed(error);
    isFailing = true;
  };
  // A Redis that is full takes no sign, and has all the same to be read from and emptied.
  const show = () =>
    presence.show(role, id).then(
      () => true,
      (error: unknown) => {
        noteFailure(error);
        return false;
      },
    );
  let round = Promise.resolve();
  const leave = () => round.then(() => presence.leave(role, id)).catch(() => undefined);
  await show();
  let openedId: string;
  try {
    const record = await records.read();
    if (isUnrecorded(record) && (await lossMark.isThere())) throw new ConfigError(LOSS_KNOWN.sentence);
    const refusal = refusalOf(await learnRecord(redis, records, shardCount));
    if (refusal) throw new ConfigError(refusal.sentence);
    await takeOverData({ redis, records, presence, events: report.upgrade, now });
    openedId = await records.identify(randomToken());
  } catch (error) {
    await leave();
    throw error;
  }

  let seenAt = performance.now();
  let resharded: Finding | undefined;
  let lost: Finding | undefined;
  const look = async () => {
    const at = performance.now();
    const [hasShown, known] = await Promise.all([show(), records.readKnown()]);
    if (hasShown) isFailing = false;
    const loss = judgeLoss(known, openedId);
    if (loss === DATA_GONE) await lossMark.set().catch(noteFailure);
    else if (!loss && known.dataId === undefined) await records.identify(openedId);
    if (loss?.sentence !== lost?.sentence) report.lost(loss);
    lost = loss;
    // Other data was not resharded, whatever number it is laid out for.
    const found = loss ? undefined : problemOf(known.record);
    if (found && !resharded) report.resharded(found);
    resharded = found;
    seenAt = at;
  };
  let looking: Promise<void> | undefined;
  const lookOnce = () => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  };
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const schedule = (afterMs: number) => {
    timer = setTimeout(() => {
      round = lookOnce()
        .then(() => SEEN_EVERY_MS)
        .catch((error: unknown) => {
          noteFailure(error);
          return AGAIN_AFTER_FAILURE_MS;
        })
        .then((nextAfterMs) => {
          if (!stopped) schedule(nextAfterMs);
        });
    }, afterMs);
  };
  schedule(SEEN_EVERY_MS);
  const findProblem = () => lost ?? resharded ?? (performance.now() - seenAt > SURE_FOR_MS ? UNSURE : undefined);
  return {
    findProblem,
    async makeSure() {
      if (findProblem() === UNSURE) await lookOnce().catch(noteFailure);
      return findProblem();
    },
    async close() {
      stopped = true;
      clearTimeout(timer);
      // With Redis away it would take as long as that is: the sign then leaves by itself.
      await answerWithin(LEAVE_LIMIT_MS, leave(), () => undefined);
    },
  };
}

/**
 * What is recorded. An empty Redis gets this process' number and layout. One that an earlier release has filled gets the number if that fits;
 * the layout is recorded when its data is taken over.
 */
export async function learnRecord(
  redis: RedisClient,
  records: Pick<ShardRecordStore, 'read' | 'enter'>,
  shardCount: number,
): Promise<ShardRecord> {
  const record = await records.read();
  if (!isUnrecorded(record)) return record;
  const found = judgeShards({ record, counts: await findShardCounts(redis) }, shardCount);
  const refusal = found.find(({ level }) => level === 'error');
  if (refusal) throw new ConfigError(refusal.sentence);
  return await records.enter(shardCount, (await hasFormerKeys(redis)) ? undefined : LAYOUT);
}
