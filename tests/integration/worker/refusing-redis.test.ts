import { createDeliveryRetention, type LoadReply } from '@herald/store/deliveries/delivery-record';
import { createDeliveryStore } from '@herald/store/deliveries/delivery-store';
import { closeRedis, connectRedis, type RedisClient } from '@herald/store/redis/connect-redis';
import type { DeliveryId } from '@herald/core';
import { askRedis, waitFor } from '@herald/test-kit';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FINISHED, PUT_BACK, type DeliveryTurn, type ProcessVerdict } from '../../../apps/worker/src/deliver.ts';
import { startDeliveryQueue } from '../../../apps/worker/src/queue.ts';
import { createRandom } from '../../../chaos/random.ts';
import { RIGHT_CLOCK } from '../../support/right-clock.ts';
import { findFaults } from '../queue/read-queue.ts';
import { LIMIT, RETENTION_MS, startEngine, type Engine } from '../engine/start-engine.ts';

/** Far less than a lease: nothing here may have waited for the end of one. */
const SOON_MS = 15_000;
const COUNT = 4;

let engine: Engine;
let port: number;
beforeAll(async () => {
  engine = await startEngine();
  const { target } = engine.stores;
  if (target.kind !== 'single') throw new Error('one server refuses here');
  port = Number(new URL(target.url).port);
});
afterAll(() => engine[Symbol.asyncDispose]());

const ask = (command: string) => askRedis(port, command);

const REFUSALS = {
  NOREPLICAS: {
    begin: () => ask('CONFIG SET min-replicas-to-write 1'),
    end: () => ask('CONFIG SET min-replicas-to-write 0'),
  },
  READONLY: { begin: () => ask('REPLICAOF 127.0.0.1 1'), end: () => ask('REPLICAOF NO ONE') },
  MISCONF: {
    async begin() {
      const dir = /\r\n(\/[^\r]*)\r\n/.exec(await ask('CONFIG GET dir'))?.[1] ?? '';
      await mkdir(join(dir, 'dump.rdb'));
      await ask('CONFIG SET save "3600 1"');
      await ask('BGSAVE');
      await waitFor('the snapshot to fail', async () =>
        (await ask('INFO persistence')).includes('rdb_last_bgsave_status:err'),
      );
      await rm(join(dir, 'dump.rdb'), { recursive: true });
    },
    end: () => ask('CONFIG SET save ""'),
  },
} as const;

/** How often Redis refused a command in these words since its statistics began. */
async function countRefusals(word: string): Promise<number> {
  return Number(new RegExp(`errorstat_${word}:count=(\\d+)`).exec(await ask('INFO errorstats'))?.[1] ?? 0);
}

/** What a worker writes with a delivery in its hands, and how often each is then worked on. */
const WRITES = {
  'the record of an attempt': { times: 1, status: 'delivered' },
  'putting back': { times: 2, status: 'delivered' },
  'an end without an attempt': { times: 1, status: 'canceled' },
} as const;

const CASES = Object.keys(REFUSALS).flatMap((word) => Object.keys(WRITES).map((write) => ({ word, write })));

test.each(CASES as readonly { word: keyof typeof REFUSALS; write: keyof typeof WRITES }[])(
  'a Redis that answers $word for a while only delays $write',
  async ({ word, write }) => {
    await using cleanUp = new AsyncDisposableStack();
    const connect = async (): Promise<RedisClient> => {
      const { target } = engine.stores;
      const redis = await connectRedis({ target, use: 'background', name: 'test', onError: () => undefined });
      cleanUp.defer(() => closeRedis(redis));
      return redis;
    };
    const retention = createDeliveryRetention(RETENTION_MS);
    const store = createDeliveryStore({ redis: await connect(), keys: engine.keys, retention });
    const receiver = await engine.register();
    const ids: DeliveryId[] = [];
    for (let count = 0; count < COUNT; count++) ids.push(await engine.acceptOne(receiver, Date.now()));
    const begun = new Map<string, number>();
    const refuses = Promise.withResolvers<undefined>();

    const record = async ({ lease, isProbe, loaded }: DeliveryTurn): Promise<ProcessVerdict> => {
      const { delivery } = loaded as Extract<LoadReply, { kind: 'loaded' }>;
      await store.record({
        delivery,
        group: receiver.group,
        attempt: { at: Date.now(), durationMs: 1, status: 200 },
        verdict: { kind: 'delivered' },
        now: Date.now(),
        answered: true,
        gone: false,
        isProbe,
        isRedelivery: false,
        lease,
        groupLimit: LIMIT,
      });
      return { kind: 'recorded', end: 'answered' };
    };
    const queue = startDeliveryQueue({
      redis: await connect(),
      waitRedis: await connect(),
      keys: engine.keys,
      concurrency: 20,
      groupLimit: LIMIT,
      async process(turn) {
        const times = (begun.get(turn.id) ?? 0) + 1;
        begun.set(turn.id, times);
        await refuses.promise;
        if (write === 'an end without an attempt') {
          await store.cancel(turn.id, 'receiver_removed', Date.now(), turn);
          return FINISHED;
        }
        return write === 'putting back' && times === 1 ? PUT_BACK : await record(turn);
      },
      metrics: { internalError: () => undefined, queueFailed: () => undefined, jobStalled: () => undefined },
      logger: { error: () => undefined, warn: () => undefined, info: () => undefined, debug: () => undefined },
      clock: RIGHT_CLOCK,
      random: createRandom(1, 'queue').next,
    });
    cleanUp.defer(() => queue.stop());
    await waitFor('all to be in work', () => begun.size === COUNT, SOON_MS);
    await ask('CONFIG RESETSTAT');
    try {
      await REFUSALS[word].begin();
      refuses.resolve(undefined);
      await waitFor('Redis to have refused it twice', async () => (await countRefusals(word)) >= 2, SOON_MS);
    } finally {
      await REFUSALS[word].end();
    }
    const { status, times } = WRITES[write];
    const areDone = async () => (await Promise.all(ids.map(engine.statusOf))).every((each) => each === status);
    await waitFor(`all to be ${status}`, areDone, SOON_MS);
    expect(begun).toEqual(new Map(ids.map((id) => [id, times])));
    expect(await findFaults({ redis: engine.redis, keys: engine.keys.queue })).toEqual([]);
  },
  60_000,
);
