import { createLogger } from '@herald/runtime/log';
import { createHistoryState } from './history.ts';

test('an outage is logged once for each reason, and is a warning with its begin until the history works', () => {
  const logged: string[] = [];
  let failures = 0;
  let at = Date.parse('2026-11-23T12:00:00Z');
  const note = (event: string, fields?: object) => logged.push(`${event} ${JSON.stringify(fields)}`);
  const state = createHistoryState({
    logger: { ...createLogger({ level: 'error', process: 'test', readable: false }), info: note, warn: note },
    metrics: { failed: () => failures++ },
    now: () => at,
  });
  expect(state.problems()).toEqual([]);
  state.worked('a');
  state.failed('a', new Error('connect ECONNREFUSED'));
  state.failed('a', new Error('connect ECONNREFUSED'));
  at += 60_000;
  state.failed('a', new Error('no space left'));
  expect(state.problems()).toMatchObject([
    {
      level: 'warning',
      code: 'history_away',
      sentence: expect.stringContaining('2026-11-23T12:00:00') as unknown,
    },
  ]);
  expect(state.problems(7)[0]?.sentence).toContain(': 7 settled deliveries stay in Redis,');
  state.worked('a');
  expect(state.problems()).toEqual([]);
  expect(failures).toBe(3);
  expect(logged).toEqual([
    'history.unavailable {"detail":"connect ECONNREFUSED"}',
    'history.unavailable {"detail":"no space left"}',
    'history.recovered {"seconds":60}',
  ]);
});

test('a part that works says nothing about one that fails: the log is told once, and the history is not up', () => {
  const logged: string[] = [];
  const note = (event: string) => logged.push(event);
  const state = createHistoryState({
    logger: { ...createLogger({ level: 'error', process: 'test', readable: false }), info: note, warn: note },
    metrics: { failed: () => undefined },
    now: () => 0,
  });
  for (let round = 0; round < 5; round++) {
    state.failed('first shard', new Error('no partition'));
    state.worked('second shard');
    expect(state.isUp()).toBe(false);
  }
  state.worked('first shard');
  expect(state.isUp()).toBe(true);
  expect(logged).toEqual(['history.unavailable', 'history.recovered']);
});

test('a day that stays for hours is a warning, its reason is logged once, and it is none of the history being away', () => {
  const logged: string[] = [];
  const note = (event: string, fields?: object) => logged.push(`${event} ${JSON.stringify(fields)}`);
  const state = createHistoryState({
    logger: { ...createLogger({ level: 'error', process: 'test', readable: false }), warn: note },
    metrics: { failed: () => undefined },
    now: () => 0,
  });
  const error = new Error('canceling statement due to lock timeout');
  for (const hours of [1, 7]) state.daysStay(hours * 3_600_000, error);
  expect(state.problems()).toMatchObject([{ code: 'history_days_stay' }]);
  expect([state.isUp(), state.overdueMs()]).toEqual([true, 7 * 3_600_000]);
  // It hides nothing, and nothing hides it.
  state.failed('a', error);
  expect(state.problems()).toMatchObject([{ code: 'history_away' }, { code: 'history_days_stay' }]);
  state.worked('a');
  state.daysStay(0);
  expect(state.problems()).toEqual([]);
  for (let round = 0; round < 2; round++) state.keptFor(90 * 86_400_000, 9 * 86_400_000);
  expect(state.problems()).toMatchObject([{ code: 'history_retention_kept' }]);
  state.keptFor(9 * 86_400_000, 9 * 86_400_000);
  expect(state.problems()).toEqual([]);
  expect(logged).toEqual([
    'history.days_stay {"seconds":3600,"detail":"canceling statement due to lock timeout"}',
    'history.unavailable {"detail":"canceling statement due to lock timeout"}',
    'history.retention_kept {"keptMs":7776000000,"wishedMs":777600000}',
  ]);
});

test('a backup that was restored is logged, with which of the two is older, and of when both are', () => {
  const logged: string[] = [];
  const note = (event: string, fields?: object) => logged.push(`${event} ${JSON.stringify(fields)}`);
  const state = createHistoryState({
    logger: { ...createLogger({ level: 'error', process: 'test', readable: false }), warn: note },
    metrics: { failed: () => undefined },
    now: () => 0,
  });
  state.restored({ older: 'redis', from: 60_000, to: 120_000 });
  // Its backup is older than the first look.
  state.restored({ older: 'history', from: 0, to: 120_000 });
  expect(logged).toEqual([
    'history.restored {"older":"redis","from":"1970-01-01T00:01:00.000Z","to":"1970-01-01T00:02:00.000Z"}',
    'history.restored {"older":"history","to":"1970-01-01T00:02:00.000Z"}',
  ]);
});
