import { LOCK_FOR_MOVING } from '@herald/history/sql/history-sql';
import { FORGET_MOVED_LUA, TAKE_SETTLED_LUA } from '@herald/store/bulk/move-store';
import { waitFor } from '@herald/test-kit';
import { createHash } from 'node:crypto';
import { sized } from '../../support/sized.ts';
import type { StopAt } from '../../support/start-gate.ts';
import { startScene, type Scene } from './start-scene.ts';

jest.setTimeout(90_000);

const TASKS = 2;
const COUNT = 2 * TASKS;

type Point = {
  readonly when: string;
  readonly of: 'toPostgres' | 'toRedis';
  readonly at: StopAt;
  /** What of the batch the stores have then. */
  readonly rows: number;
  readonly kept: number;
  /** Who is killed there in `npm test`: a server sees no difference between the steps around. */
  readonly victims: readonly Victim[];
};

/** A script is called by this. */
const digest = (lua: string) => createHash('sha1').update(lua).digest('hex');

/** The statements of a batch, in their order. */
const POINTS: readonly Point[] = [
  {
    when: 'before it locks out erasers',
    of: 'toPostgres',
    at: { bytes: LOCK_FOR_MOVING, when: 'before' },
    rows: 0,
    kept: COUNT,
    victims: ['worker'],
  },
  {
    when: 'after it has read the batch under its lease',
    of: 'toRedis',
    at: { bytes: digest(TAKE_SETTLED_LUA), when: 'after' },
    rows: 0,
    kept: COUNT,
    victims: ['worker', 'Redis'],
  },
  {
    when: 'before it inserts transitions',
    of: 'toPostgres',
    at: { bytes: 'INSERT INTO herald.transitions', when: 'before' },
    rows: 0,
    kept: COUNT,
    victims: ['worker'],
  },
  {
    when: 'between transitions and deliveries',
    of: 'toPostgres',
    at: { bytes: 'INSERT INTO herald.deliveries', when: 'before' },
    rows: 0,
    kept: COUNT,
    victims: ['worker', 'PostgreSQL'],
  },
  {
    when: 'before the commit',
    of: 'toPostgres',
    at: { bytes: 'COMMIT', when: 'before' },
    rows: 0,
    kept: COUNT,
    victims: ['worker', 'PostgreSQL', 'Redis'],
  },
  {
    when: 'after the commit, before it knows',
    of: 'toPostgres',
    at: { bytes: 'COMMIT', when: 'after' },
    rows: COUNT,
    kept: COUNT,
    victims: ['worker', 'PostgreSQL', 'Redis'],
  },
  {
    when: 'before the batch leaves Redis',
    of: 'toRedis',
    at: { bytes: digest(FORGET_MOVED_LUA), when: 'before' },
    rows: COUNT,
    kept: COUNT,
    victims: ['worker', 'Redis'],
  },
  {
    when: 'after the batch has left Redis, before it knows',
    of: 'toRedis',
    at: { bytes: digest(FORGET_MOVED_LUA), when: 'after' },
    rows: COUNT,
    kept: 0,
    victims: ['worker', 'PostgreSQL', 'Redis'],
  },
];

/** Kills, and starts again what was killed. */
const VICTIMS = {
  worker: async ({ worker, herald, mover, startWorker }: Scene, when: string) => {
    await worker.kill();
    // Its lease ends by itself, for which one of them waits.
    if (when !== POINTS[1]?.when) await herald.redis.del(mover);
    await startWorker();
  },
  PostgreSQL: async ({ history: { postgres } }: Scene) => {
    await postgres.kill();
    await postgres.restart();
  },
  Redis: async ({ herald }: Scene) => {
    await herald.server.kill();
    await herald.server.restart();
    await waitFor('the connection of the test', () => herald.redis.status === 'ready');
    await waitFor('the API', async () => (await herald.request('GET', '/readyz')).status === 200);
  },
};
type Victim = keyof typeof VICTIMS;
const NAMES = Object.keys(VICTIMS) as Victim[];

/** A Herald for each victim: the three are killed beside each other. */
const scenes = new Map<Victim, { readonly scene: Scene; turn: Promise<unknown> }>();
beforeAll(async () => {
  await Promise.all(
    NAMES.map(async (name) => scenes.set(name, { scene: await startScene(), turn: Promise.resolve() })),
  );
});
afterAll(async () => {
  await Promise.all([...scenes.values()].map(({ scene }) => scene[Symbol.asyncDispose]()));
});

async function killAt(
  { when, of, at, rows, kept }: Omit<Point, 'victims'>,
  victim: Victim,
  scene: Scene,
): Promise<void> {
  const { herald, toPostgres, mover } = scene;
  const former = await scene.countRows();
  // Redis knows the scripts, so that the first reply to one is that of its run.
  for (const lua of [TAKE_SETTLED_LUA, FORGET_MOVED_LUA]) await herald.redis.script('LOAD', lua);
  // Nobody moves before all of them are settled: the lease is that of the test.
  await herald.redis.set(mover, 'the test', 'PX', 60_000);
  await scene.deliver(TASKS);
  await scene.waitUntilDue();
  const round = toPostgres.stopAt({ bytes: LOCK_FOR_MOVING, when: 'before' });
  await waitFor('a round to begin', round.isReached);
  const stop = at.bytes === LOCK_FOR_MOVING ? round : scene[of].stopAt(at);
  await herald.redis.del(mover);
  if (stop !== round) round.letGo();
  await waitFor(`it to stand ${when}`, stop.isReached);
  const state = async () => ({ rows: (await scene.countRows()) - former, kept: await scene.kept() });
  await expect(state()).resolves.toEqual({ rows, kept });
  await scene.expectEachOnce();

  await VICTIMS[victim](scene, when);
  stop.letGo();
  await scene.waitUntilMoved();
  await expect(scene.countRows()).resolves.toBe(former + COUNT);
  await scene.expectEachOnce();
  await scene.expectReadable(TASKS);
}

const CASES = POINTS.flatMap((point) => sized(point.victims, NAMES).map((victim) => ({ ...point, victim })));
test.concurrent.each(CASES)(
  '$victim killed $when: every delivery is sent once, moves once, and is shown once all the time',
  async ({ victim, ...point }) => {
    const own = scenes.get(victim);
    if (!own) throw new Error(`there is no scene for ${victim}`);
    const turn = own.turn.then(() => killAt(point, victim, own.scene));
    own.turn = turn.catch(() => undefined);
    await expect(turn).resolves.toBeUndefined();
  },
);
