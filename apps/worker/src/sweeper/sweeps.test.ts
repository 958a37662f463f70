import { createLogger, type Duty, type DutyStore, type Logger } from '@herald/infra';
import { feedReplays } from './feed-replays.ts';
import { startSweeper } from './start-sweeper.ts';
import { sweepBacklogs } from './sweep-backlogs.ts';
import { auditOpen, sweepOwed, type SweepDeps } from './sweep-duties.ts';
import { sweepPurges } from './sweep-purges.ts';

type PendingDelivery = Awaited<ReturnType<DutyStore['findPending']>>[number];

const NOW = 1_000_000;
const silent: Logger = {
  ...createLogger({ level: 'error', process: 'test', readable: false }),
  ...{ info: () => undefined, warn: () => undefined, error: () => undefined },
};

describe('feeding replays', () => {
  test.each<{ when: string; replies: ('stepped' | 'wait' | 'ended')[]; asked: number; steps: number }>([
    { when: 'goes on', replies: ['stepped'], asked: 5, steps: 5 },
    { when: 'waits for its backlog', replies: ['stepped', 'stepped', 'wait'], asked: 3, steps: 2 },
    { when: 'ends', replies: ['ended'], asked: 1, steps: 0 },
  ])('one that $when is asked for $asked steps in a round', async ({ replies, asked, steps }) => {
    let calls = 0;
    const replays = {
      claim: () => Promise.resolve(['rpl_1']),
      step: () =>
        Promise.resolve({ kind: replies[Math.min(calls++, replies.length - 1)] ?? ('ended' as const), replayed: 2 }),
    };
    let replayed = 0;
    const reportReplayed = (deliveries: number) => {
      replayed += deliveries;
    };
    expect(await feedReplays({ replays, reportReplayed, now: () => NOW })).toBe(steps);
    expect(calls).toBe(asked);
    expect(replayed).toBe(2 * asked);
  });

  test('one that waits holds up no other', async () => {
    const asked: string[] = [];
    const replays = {
      claim: () => Promise.resolve(['waits', 'goes']),
      step: (id: string) => {
        asked.push(id);
        return Promise.resolve({ kind: id === 'waits' ? ('wait' as const) : ('stepped' as const), replayed: 0 });
      },
    };
    await feedReplays({ replays, reportReplayed: () => undefined, now: () => NOW });
    expect(asked).toEqual(['waits', ...Array<string>(5).fill('goes')]);
  });
});

test('a sweep of backlogs pokes each that nobody may serve, and leaves it to others for a while', async () => {
  const poked: string[] = [];
  const claims: number[][] = [];
  const backlog = {
    claim: (now: number, nextLookAt: number, limit: number) => {
      claims.push([now, nextLookAt, limit]);
      return Promise.resolve(['a', 'b']);
    },
  };
  const swept = await sweepBacklogs({
    ...{ backlog, unservedAfterMs: 2_000, now: () => NOW },
    poke: (destination) => {
      poked.push(destination);
    },
  });
  expect(swept).toBe(2);
  expect(poked).toEqual(['a', 'b']);
  expect(claims).toEqual([[NOW, NOW + 2_000, 500]]);
});

describe('duties', () => {
  /** Sweeps over duties in memory: `owed` and `audits` come in claims of 200, as from the store. */
  function prepare(facts: { owed?: Duty[]; audits?: Duty[]; pending?: Record<string, Partial<PendingDelivery>> }) {
    const asked: string[] = [];
    const found: string[] = [];
    const claims = { owed: 0, audits: 0 };
    const claim = (name: 'owed' | 'audits') => (_now: number, _until: number, limit: number) => {
      claims[name]++;
      return Promise.resolve(facts[name]?.splice(0, limit) ?? []);
    };
    const duties: DutyStore = {
      claimOwed: claim('owed'),
      claimAudits: claim('audits'),
      clearOwed: (id, markedAt) => {
        asked.push(`clear ${id} ${markedAt - NOW}`);
        return Promise.resolve();
      },
      findPending: (_queue, ids) =>
        Promise.resolve(
          ids.flatMap((id) => {
            const found = facts.pending?.[id];
            return found ? [{ ...{ id, dueAt: NOW + 5, hasJob: false, isInBacklog: false }, ...found }] : [];
          }),
        ),
    };
    const deps: SweepDeps = {
      metrics: {
        found: (kind, count = 1) => {
          found.push(`${kind} ${count}`);
        },
      },
      ...{ duties, logger: silent, now: () => NOW },
      queue: {
        add: (jobs) => {
          asked.push(...jobs.map(({ id, dueAt }) => `add ${id} ${dueAt === undefined ? '' : dueAt - NOW}`));
          return Promise.resolve();
        },
        hurry: ({ id }) => {
          asked.push(`hurry ${id}`);
          return Promise.resolve();
        },
      },
      cancelUnsentTest: (id) => {
        asked.push(`cancel ${id}`);
        return Promise.resolve();
      },
    };
    return { deps, asked, claims, found };
  }
  const duty = (id: string, deliveryIds: string[], event: Duty['event'] = 'task.done'): Duty => ({
    ...{ id, event, deliveryIds },
  });

  test('owed jobs are added, but not those that have one or wait in a backlog; then the mark is cleared', async () => {
    const { deps, asked } = prepare({
      owed: [duty('trn_1', ['dlv_a', 'dlv_b', 'dlv_c', 'dlv_settled'])],
      pending: { dlv_a: {}, dlv_b: { hasJob: true }, dlv_c: { isInBacklog: true } },
    });
    expect(await sweepOwed(deps)).toBe(1);
    expect(asked).toEqual(['add dlv_a 5', 'clear trn_1 30000']);
  });

  test('an owed redelivery is hurried and its mark stays until the attempt is recorded', async () => {
    const { deps, asked } = prepare({ owed: [duty('dlv_a', ['dlv_a'])], pending: { dlv_a: {} } });
    await sweepOwed(deps);
    expect(asked).toEqual(['hurry dlv_a']);
  });

  test.each([
    { open: 0, claims: 1 },
    { open: 200, claims: 2 },
    { open: 450, claims: 3 },
    { open: 5_000, claims: 10 },
  ])('an audit of $open open transitions claims $claims times at most', async ({ open, claims }) => {
    const audits = Array.from({ length: open }, (_, index) => duty(`trn_${index}`, [`dlv_${index}`]));
    const prepared = prepare({ audits });
    await auditOpen(prepared.deps);
    expect(prepared.claims.audits).toBe(claims);
  });

  test('an audit gives a job to what is pending and nowhere, at its time, and to nothing else', async () => {
    const { deps, asked } = prepare({
      audits: [duty('trn_1', ['dlv_lost', 'dlv_job', 'dlv_backlog', 'dlv_settled'])],
      pending: { dlv_lost: { dueAt: NOW + 9_000 }, dlv_job: { hasJob: true }, dlv_backlog: { isInBacklog: true } },
    });
    expect(await auditOpen(deps)).toBe(1);
    expect(asked).toEqual(['add dlv_lost 9000']);
  });

  test('a test event that is still pending at its audit is canceled, never sent', async () => {
    const { deps, asked, found } = prepare({
      audits: [duty('trn_1', ['dlv_test'], 'webhook.test')],
      pending: { dlv_test: { hasJob: true } },
    });
    expect(await auditOpen(deps)).toBe(0);
    expect(found).toEqual(['test_unsent 1']);
    expect(asked).toEqual(['cancel dlv_test']);
  });
});

test('a purge takes the jobs of what it ended out of the line, step by step, and then the endpoint off the list', async () => {
  const asked: string[] = [];
  const reported: string[] = [];
  const purged = (id: string) => ({ id, event: 'task.done', reason: 'receiver_removed' }) as const;
  const total = await sweepPurges({
    reportPurged: (endpointId, deliveries) => {
      reported.push(...deliveries.map(({ id }) => `${endpointId} ${id}`));
    },
    purges: {
      claim: () => Promise.resolve(['wh_1']),
      async *purge() {
        yield [purged('dlv_a'), purged('dlv_b')];
        await Promise.resolve();
        yield [];
        yield [purged('dlv_c')];
      },
      finish: (id) => {
        asked.push(`finish ${id}`);
        return Promise.resolve();
      },
    },
    queue: {
      remove: (ids) => {
        asked.push(`remove ${ids.join()}`);
        return Promise.resolve();
      },
    },
    ...{ logger: silent, now: () => NOW },
  });
  expect(total).toBe(3);
  expect(asked).toEqual(['remove dlv_a,dlv_b', 'remove ', 'remove dlv_c', 'finish wh_1']);
  expect(reported).toEqual(['wh_1 dlv_a', 'wh_1 dlv_b', 'wh_1 dlv_c']);
});

describe('the sweeper', () => {
  /** Runs sweeps until `rounds` of the last one have begun. */
  async function runRounds(sweeps: readonly (() => Promise<unknown>)[], rounds: number) {
    const enough = Promise.withResolvers<undefined>();
    let begun = 0;
    let counted = 0;
    const last = () => {
      if (++begun === rounds) enough.resolve(undefined);
      return Promise.resolve();
    };
    const sweeper = startSweeper({
      ...{ sweeps: [...sweeps, last], everyMs: 1, logger: silent, random: () => 0.5 },
      metrics: {
        sweepFailed: () => {
          counted++;
        },
      },
    });
    await enough.promise;
    await sweeper.stop();
    return { begun, counted };
  }

  test('goes on after a sweep that fails, in the same round and in the next ones', async () => {
    let failures = 0;
    const failing = () => {
      failures++;
      return Promise.reject(new Error('Redis is away'));
    };
    const { counted } = await runRounds([failing], 5);
    expect(failures).toBeGreaterThanOrEqual(5);
    expect(counted).toBe(failures);
  });

  test('never runs two rounds at once', async () => {
    let running = 0;
    let most = 0;
    const slow = async () => {
      most = Math.max(most, ++running);
      for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
      running--;
    };
    await runRounds([slow], 5);
    expect(most).toBe(1);
  });

  test('a stop waits for the sweep under way, begins no other, and may be called twice', async () => {
    const begun = Promise.withResolvers<undefined>();
    const release = Promise.withResolvers<undefined>();
    let ended = false;
    let others = 0;
    const sweeper = startSweeper({
      sweeps: [
        async () => {
          begun.resolve(undefined);
          await release.promise;
          ended = true;
        },
        () => Promise.resolve(others++),
      ],
      ...{ everyMs: 1, logger: silent, random: () => 0, metrics: { sweepFailed: () => undefined } },
    });
    await begun.promise;
    const stops = [sweeper.stop(), sweeper.stop()];
    expect(ended).toBe(false);
    release.resolve(undefined);
    await Promise.all(stops);
    expect(ended).toBe(true);
    expect(others).toBe(0);
  });
});
