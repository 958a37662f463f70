import { createLogger } from '@herald/runtime/log/logger';
import { createHistoryState } from './history-state.ts';

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
  expect(state.problem()).toBeUndefined();
  state.worked();
  state.failed(new Error('connect ECONNREFUSED'));
  state.failed(new Error('connect ECONNREFUSED'));
  at += 60_000;
  state.failed(new Error('no space left'));
  expect(state.problem()).toMatchObject({
    level: 'warning',
    code: 'history_away',
    sentence: expect.stringContaining('2026-11-23T12:00:00') as unknown,
  });
  expect(state.problem(7)?.sentence).toMatch(/; 7 settled deliveries stay in Redis$/);
  state.worked();
  expect(state.problem()).toBeUndefined();
  expect(failures).toBe(3);
  expect(logged).toEqual([
    'history.unavailable {"detail":"connect ECONNREFUSED"}',
    'history.unavailable {"detail":"no space left"}',
    'history.recovered {"seconds":60}',
  ]);
});
