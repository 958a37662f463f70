import { startEngine, type Engine } from './start-engine.ts';

const NOW = Date.now();

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine[Symbol.asyncDispose]());

test('an attempt loads all that is known of its endpoint', async () => {
  const receiver = await engine.register({
    description: 'everything',
    events: ['task.done'],
    rateLimit: { perSecond: 3 },
    ordering: 'task',
    orderingTimeoutMs: 60_000,
    maxRetryHours: 3,
  });
  const { workspaceId, id } = receiver;
  const { receivers } = engine.stores;
  await receivers.rotateSecret(workspaceId, id, 'new', NOW + 60_000, NOW);
  const headers = { names: ['x-a'], encrypted: 'sealed' };
  await receivers.patch(workspaceId, id, { url: 'https://other.example.com/in', headers }, NOW);
  const delivery = await engine.acceptOne(receiver, NOW);
  await receivers.lock(workspaceId, id, 'Because.', NOW);
  await receivers.pause(workspaceId, id, 'It rests.', NOW);
  await engine.redis.hset(engine.keys.endpoint(id), {
    fails: '2',
    failAt: '5',
    failWhy: '6 503',
    okAt: '4',
    okFrom: '3',
    told: '5',
  });
  const found = await receivers.find(workspaceId, id);
  expect(found).toMatchObject({
    disabledReason: 'locked',
    disabledBy: 'platform',
    lockedReason: 'Because.',
    pausedAt: NOW,
    pausedReason: 'It rests.',
    rateLimit: { perSecond: 3 },
    ordering: 'task',
    orderingTimeoutMs: 60_000,
    headerNames: ['x-a'],
    toldSince: 5,
    health: {
      consecutiveFailures: 2,
      failingSince: 5,
      lastFailure: { at: 6, status: 503 },
      lastSuccessAt: 4,
      healthySince: 3,
    },
  });
  // A sender compares no versions.
  const { version, ...known } = found ?? {};
  expect(version).toMatch(/^[0-9a-f]{40}$/);
  expect((await engine.load(delivery)).endpoint).toEqual(known);
});
