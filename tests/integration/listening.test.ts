import { deliveryIdOf, ListenerLimitReachedError } from '@herald/core';
import type { Logger } from '@herald/runtime/log';
import { createMetricsRegistry } from '@herald/runtime/metrics';
import { createApiKeyStore, type NewApiKey } from '@herald/store/access/api-key-store';
import { createFollow, createListenerStore, LISTENER_LIMIT, publishListened } from '@herald/store/listening/listeners';
import { isListened } from '@herald/store/endpoints/endpoint-record';
import { closeRedis, connectRedis } from '@herald/store/redis/connect-redis';
import { waitFor } from '@herald/test-kit';
import express from 'express';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createListeners, createTellListeners } from '../../apps/api/src/listening/create-listeners.ts';
import { HungUpError } from '../../apps/api/src/http/problem.ts';
import { createListenMetrics } from '../../apps/api/src/metrics.ts';
import { buildReceiver, newWorkspaceId, startStores, type Stores } from '../support/start-stores.ts';
import { trackHandles } from '../support/track-handles.ts';

const NOW = Date.UTC(2030, 0, 1);
const EVENT = { transitionId: 'trn_1', event: 'task.done', body: '{"id":"trn_1","text":"Grüße"}' };
const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

let stores: Stores;
beforeAll(async () => {
  stores = await startStores(2);
});
afterAll(() => stores[Symbol.asyncDispose]());

const versionOf = async (workspaceId: string) => (await stores.receivers.findSubscriptions(workspaceId)).version;

describe('the places of listeners', () => {
  // As two processes have them.
  const startStore = () => {
    const both = [stores.redis, stores.second.redis].map((redis) =>
      createListenerStore({ redis, keyspace: stores.keyspace }),
    );
    return { hold: both.map((each) => each.hold), release: both.map((each) => each.release) };
  };
  let store: ReturnType<typeof startStore>;
  beforeAll(() => {
    store = startStore();
  });
  const hold = async (workspaceId: string, id: string, now = NOW) =>
    await store.hold[id.length % 2]?.(workspaceId, id, now);

  test('are five, over all processes, also when twenty come at once', async () => {
    const workspaceId = newWorkspaceId();
    const replies = await Promise.all(Array.from({ length: 20 }, (_, index) => hold(workspaceId, `l${2 ** index}`)));
    expect(replies.filter((reply) => reply === 'held')).toHaveLength(LISTENER_LIMIT);
    expect(await hold(newWorkspaceId(), 'another workspace')).toBe('held');
  });

  test('are kept by whoever has one, freed by whoever leaves, and end by themselves half a minute after a death', async () => {
    const workspaceId = newWorkspaceId();
    const ids = ['a', 'bb', 'c', 'dd', 'e'];
    await Promise.all(ids.map((id) => hold(workspaceId, id)));
    expect([await hold(workspaceId, 'a'), await hold(workspaceId, 'f')]).toEqual(['held', 'full']);
    await store.release[1]?.(workspaceId, 'bb');
    expect(await hold(workspaceId, 'f')).toBe('held');
    const later = NOW + 20_000;
    await hold(workspaceId, 'a', later);
    expect([await hold(workspaceId, 'g', NOW + 29_999), await hold(workspaceId, 'g', NOW + 30_000)]).toEqual([
      'full',
      'held',
    ]);
    expect(await hold(workspaceId, 'a', later + 29_999)).toBe('held');
  });

  test('change the version of the subscriptions at most every half minute, however many come and go', async () => {
    const workspaceId = newWorkspaceId();
    const seen = new Set([await versionOf(workspaceId)]);
    for (let at = NOW; at <= NOW + 60_000; at += 1_000) {
      await hold(workspaceId, `l${at}`, at);
      await store.release[0]?.(workspaceId, `l${at}`);
      seen.add(await versionOf(workspaceId));
    }
    expect([...seen].map((version) => isListened(version, NOW))).toEqual([false, true, true]);
  });

  test('stay known when the receivers of the workspace change', async () => {
    const receiver = buildReceiver(newWorkspaceId());
    const { workspaceId, id } = receiver;
    await hold(workspaceId, 'a');
    const versions = [await versionOf(workspaceId)];
    await stores.receivers.register(receiver, 'secret');
    versions.push(await versionOf(workspaceId));
    await stores.receivers.patch(workspaceId, id, { description: 'new' }, NOW);
    versions.push(await versionOf(workspaceId));
    await stores.receivers.remove(workspaceId, id, NOW);
    versions.push(await versionOf(workspaceId));
    expect(new Set(versions).size).toBe(4);
    expect(versions.map((version) => [isListened(version, NOW + 59_999), isListened(version, NOW + 60_000)])).toEqual(
      Array(4).fill([true, false]),
    );
  });

  test('cost a workspace without listeners nothing: its version is as it was', async () => {
    const receiver = buildReceiver(newWorkspaceId());
    await stores.receivers.register(receiver, 'secret');
    expect(await versionOf(receiver.workspaceId)).toMatch(/^[\w-]{12}$/);
  });
});

describe('a stream', () => {
  interface StreamOptions {
    isAllowed?: () => Promise<boolean>;
    events?: string[];
    workspaceId?: string;
    expiresAt?: number;
    beatMs?: number;
    now?: () => number;
  }
  /** One API process: the streams of a workspace behind a server. */
  async function startProcess({
    isAllowed = () => Promise.resolve(true),
    events = [],
    workspaceId = newWorkspaceId(),
    expiresAt,
    beatMs = 20,
    now = Date.now,
  }: StreamOptions = {}) {
    const { target } = stores;
    const subscriber = await connectRedis({ target, use: 'subscriptions', name: 'sub', onError: () => undefined });
    const registry = createMetricsRegistry('api');
    const warnings: Parameters<Logger['warn']>[] = [];
    const told: string[] = [];
    const listeners = createListeners({
      store: createListenerStore({ redis: stores.redis, keyspace: stores.keyspace }),
      follow: createFollow(subscriber),
      metrics: createListenMetrics(registry),
      logger: { ...SILENT, info: (event) => told.push(event), warn: (...warning) => warnings.push(warning) },
      now,
      beatMs,
    });
    const failures: unknown[] = [];
    const answers: express.Response[] = [];
    const app = express().get('/', async (_req, res) => {
      answers.push(res);
      await listeners.listen({ workspaceId, events, isAllowed, expiresAt }, res).catch((error: unknown) => {
        failures.push(error);
        res.destroy();
      });
    });
    const server = createServer(app).listen(0, '127.0.0.1');
    server.timeout = 60_000;
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return {
      workspaceId,
      answers,
      listeners,
      failures,
      warnings,
      told,
      metric: async (name: string) => (await registry.getSingleMetric(name)?.get())?.values[0]?.value,
      publish: (event = EVENT) => publishListened(stores.second.redis, workspaceId, event),
      /** What has come so far; reading stops while nobody asks. */
      async open() {
        const aborted = new AbortController();
        const answer = await fetch(origin, { signal: aborted.signal });
        const reader = (answer.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
        let text = '';
        const until = async (part: string) => {
          for (let end = text.indexOf(part); end < 0; end = text.indexOf(part)) {
            const { done, value } = await reader.read();
            if (done) throw new Error(`the stream ended without ${part}: ${text}`);
            text += value;
          }
          return text;
        };
        await until('event: listening');
        return {
          until,
          close: () => {
            aborted.abort();
          },
        };
      },
      async [Symbol.asyncDispose]() {
        server.closeAllConnections();
        await listeners.close();
        const closed = once(server, 'close');
        server.close();
        await closed;
        await closeRedis(subscriber);
      },
    };
  }
  const held = (workspaceId: string) =>
    stores.redis.zcard(stores.keyspace.of(workspaceId).listeners(workspaceId)).then((count) => ({ count }));

  test('is not opened for a client that has hung up meanwhile, and holds no place', async () => {
    await using api = await startProcess();
    const { workspaceId } = api;
    const request = { workspaceId, events: [], isAllowed: () => Promise.resolve(true), expiresAt: undefined };
    const gone = api.listeners.listen(request, { closed: true } as express.Response);
    await expect(gone).rejects.toBeInstanceOf(HungUpError);
    expect(await held(workspaceId)).toEqual({ count: 0 });
    expect(api.told).toEqual([]);
  });

  test('shows each event of its workspace once, under an id of its own, and shows that it lives', async () => {
    await using api = await startProcess();
    const [one, other] = [await api.open(), await api.open()];
    expect(await api.metric('herald_listeners')).toBe(2);
    expect(api.told).toEqual(['listen.started', 'listen.started']);
    await publishListened(stores.redis, newWorkspaceId(), { ...EVENT, transitionId: 'trn_of_others' });
    await api.publish();
    await api.publish({ ...EVENT, transitionId: 'trn_2' });
    const texts = [await one.until('still here'), await other.until('still here')];
    for (const stream of [one, other]) await stream.until('event: task.done');
    const ids = await Promise.all(
      [one, other].map(async (stream) => {
        const text = await stream.until('still here');
        const [, listenerId = ''] = /"listenerId":"(lst_[\w-]+)"/.exec(text) ?? [];
        const id = deliveryIdOf('trn_1', listenerId);
        expect(text).not.toContain('trn_of_others');
        expect(await stream.until(`id: ${deliveryIdOf('trn_2', listenerId)}\nevent: task.done\n`)).toContain(
          `id: ${id}\nevent: task.done\ndata: ${EVENT.body}\n\n`,
        );
        return id;
      }),
    );
    expect(new Set(ids).size).toBe(2);
    expect(texts.join('')).toContain('\n: still here\n\n');
    expect(await api.metric('herald_listen_events_total')).toBe(4);
  });

  test('shows the events that were asked for alone', async () => {
    await using api = await startProcess({ events: ['task.done'] });
    const stream = await api.open();
    await api.publish({ ...EVENT, event: 'task.check_in' });
    await api.publish();
    expect(await stream.until('task.done\ndata')).not.toContain('event: task.check_in');
  });

  test('gives its place back when its reader leaves, and the sixth is refused until then', async () => {
    await using api = await startProcess();
    const streams = await Promise.all(Array.from({ length: LISTENER_LIMIT }, () => api.open()));
    await expect(api.open()).rejects.toThrow('fetch failed');
    expect(api.failures).toEqual([expect.any(ListenerLimitReachedError)]);
    streams[0]?.close();
    await waitFor('its place', () => held(api.workspaceId), { until: ({ count }) => count < LISTENER_LIMIT });
    await expect(api.open()).resolves.toBeDefined();
  });

  test('ends with its key', async () => {
    let isAllowed = true;
    await using api = await startProcess({ isAllowed: () => Promise.resolve(isAllowed) });
    const stream = await api.open();
    await stream.until('still here');
    isAllowed = false;
    expect(await stream.until('event: end')).toMatch(/event: end\ndata: {"reason":"key_ended","detail":"[^"]+"}\n\n/);
    await waitFor('its place', () => held(api.workspaceId), { until: ({ count }) => count === 0 });
  });

  /** So rare that it ends no stream of a test: only what is told can. */
  const NO_BEAT_MS = 600_000;
  const createKeys = (redis = stores.redis) => createApiKeyStore({ redis, now: Date.now });
  /** Streams of two processes with a key, as the API opens them. */
  async function startKeyed(more: Partial<NewApiKey> = {}) {
    const workspaceId = newWorkspaceId();
    const { key, record } = await createKeys().create({ workspaceId, scopes: ['webhooks'], ...more });
    const isAllowed = async () => (await createKeys().find(key)) !== undefined;
    const options = { workspaceId, isAllowed, beatMs: NO_BEAT_MS, ...more };
    const both = [await startProcess(options), await startProcess(options)] as const;
    return {
      id: record.id,
      workspaceId,
      publish: both[0].publish,
      streams: [await both[0].open(), await both[1].open()],
      async [Symbol.asyncDispose]() {
        for (const api of both) await api[Symbol.asyncDispose]();
      },
    };
  }

  test('ends within a second of the revocation of its key, in every process, and not at its next beat', async () => {
    await using keyed = await startKeyed();
    const revokedAt = performance.now();
    expect(await createKeys(stores.second.redis).revoke(keyed.id)).toEqual({});
    const texts = await Promise.all(keyed.streams.map((stream) => stream.until('event: end')));
    expect(performance.now() - revokedAt).toBeLessThan(1_000);
    for (const text of texts) expect(text).toContain('"reason":"key_ended"');
  });

  test('goes on when another key of its workspace is revoked, and shows nothing of it', async () => {
    await using keyed = await startKeyed();
    const { workspaceId } = keyed;
    const { record } = await createKeys().create({ workspaceId, scopes: ['webhooks'] });
    await createKeys().revoke(record.id);
    await keyed.publish();
    for (const stream of keyed.streams) {
      expect(await stream.until(EVENT.body)).toMatch(/^event: listening\ndata: \{.*\}\n\nid: \S+\nevent: task\.done\n/);
    }
  });

  test('ends when its key expires, at that moment, without asking anybody', async () => {
    const expiresAt = Date.now() + 300;
    await using api = await startProcess({ expiresAt, beatMs: NO_BEAT_MS });
    const stream = await api.open();
    expect(await stream.until('event: end')).toContain('"reason":"key_ended"');
    const lateMs = Date.now() - expiresAt;
    expect(lateMs).toBeGreaterThanOrEqual(-5);
    expect(lateMs).toBeLessThan(1_000);
  });

  test('goes on with a key that expires beyond what a timer takes, and looks at the time no more often for it', async () => {
    let looks = 0;
    const now = () => (looks++, Date.now());
    const tracker = trackHandles();
    const api = await startProcess({ expiresAt: Date.now() + 2 ** 40, beatMs: NO_BEAT_MS, now });
    const stream = await api.open();
    for (let count = 0; count < 20; count++) await api.publish({ ...EVENT, transitionId: `trn_${count}` });
    const [listenerId = ''] = /lst_[\w-]+/.exec(await stream.until('lst_')) ?? [];
    expect(await stream.until(deliveryIdOf('trn_19', listenerId))).not.toContain('event: end');
    expect(looks).toBeLessThan(5);
    await api[Symbol.asyncDispose]();
    tracker.stop();
    // Node has one of its own for its Date header.
    const left = tracker.find().filter(({ type, what }) => type === 'Timeout' && !what.includes('resetCache'));
    expect(left.filter(({ what }) => what.includes('create-listeners'))).toEqual([]);
  });

  test('ends at once when its key was revoked while it connected', async () => {
    await using api = await startProcess({ isAllowed: () => Promise.resolve(false), beatMs: NO_BEAT_MS });
    const stream = await api.open();
    expect(await stream.until('event: end')).toContain('"reason":"key_ended"');
  });

  test('ends at its next beat when Redis passes no word of the revocation on: it counts all the same', async () => {
    const workspaceId = newWorkspaceId();
    const { key, record } = await createKeys().create({ workspaceId, scopes: ['webhooks'] });
    const isAllowed = async () => (await createKeys().find(key)) !== undefined;
    await using api = await startProcess({ workspaceId, isAllowed });
    const stream = await api.open();
    const { redis } = stores.second;
    const mute = new Proxy(redis, {
      get: (target, name) =>
        name === 'publish' ? () => Promise.reject(new Error('muted')) : (Reflect.get(target, name) as unknown),
    });
    expect(await createKeys(mute).revoke(record.id)).toEqual({ untold: new Error('muted') });
    expect(await createKeys().find(key)).toBeUndefined();
    expect(await stream.until('event: end')).toContain('"reason":"key_ended"');
  });

  test('goes on when the key can’t be asked for, which is logged', async () => {
    let asked = 0;
    await using api = await startProcess({ isAllowed: () => Promise.reject(new Error(`away ${++asked}`)) });
    const stream = await api.open();
    await waitFor('two questions', () => asked >= 2);
    await api.publish();
    expect(await stream.until('event: task.done')).not.toContain('event: end');
    const fields = { workspaceId: api.workspaceId, listenerId: expect.any(String) as string };
    expect(api.warnings[0]).toEqual(['listen.beat_failed', fields, new Error('away 1')]);
  });

  test('ends when others took its place while Redis was away', async () => {
    await using api = await startProcess();
    const stream = await api.open();
    const { listeners } = stores.keyspace.of(api.workspaceId);
    const others = Array.from({ length: LISTENER_LIMIT }, (_, index) => [Date.now() + 30_000, `o${index}`]).flat();
    await stores.redis
      .multi()
      .del(listeners(api.workspaceId))
      .zadd(listeners(api.workspaceId), ...others)
      .exec();
    expect(await stream.until('event: end')).toContain('"reason":"place_taken"');
  });

  test('ends with a sentence when its process stops, which then takes no more', async () => {
    await using api = await startProcess();
    const stream = await api.open();
    await api.listeners.close();
    expect(await held(api.workspaceId)).toEqual({ count: 0 });
    expect(await stream.until('event: end')).toContain('"reason":"stopping","detail":"this process is stopping');
    await expect(api.open()).rejects.toThrow('fetch failed');
  });

  test('of a reader that doesn’t read ends with a sentence, and takes no more memory', async () => {
    await using api = await startProcess();
    const stream = await api.open();
    // The time that an answer may stay unread is not for it.
    expect(api.answers[0]?.socket?.timeout).toBe(0);
    const large = { ...EVENT, body: JSON.stringify('x'.repeat(256 * 1024)) };
    // The system of a machine takes some megabytes before anything waits here.
    for (let count = 0; count < 100 && api.answers[0]?.writableEnded === false; count++) await api.publish(large);
    expect(await stream.until('event: end')).toContain('"reason":"too_slow"');
  });
});

test('telling listeners fails beside the acceptance, and is counted', async () => {
  const registry = createMetricsRegistry('api');
  const metrics = createListenMetrics(registry);
  const tell = createTellListeners({
    publish: () => Promise.reject(new Error('away')),
    metrics,
    logger: SILENT,
  });
  tell('ws_1', EVENT);
  const count = async () =>
    (await registry.getSingleMetric('herald_listen_publish_failures_total')?.get())?.values[0]?.value;
  expect(await waitFor('the count', count, { until: (value) => value === 1 })).toBe(1);
});
