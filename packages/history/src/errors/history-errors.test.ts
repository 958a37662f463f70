import pg from 'pg';
import { DayGoingError, findRefusal, HistoryRefusal, judgeHistoryError, type HistoryFault } from './history-errors.ts';

function state(code: string): Error {
  const error = new pg.DatabaseError('said so', 0, 'error');
  error.code = code;
  return error;
}

test.each<[what: string, error: unknown, fault: HistoryFault]>([
  ['a value that the encoding lacks', state('22P05'), 'row'],
  ['a row without a partition', state('23514'), 'row'],
  ['a trigger of somebody', state('P0001'), 'row'],
  ['a row that is too large', state('54000'), 'row'],
  ['a damaged index', state('XX002'), 'row'],
  ['a day that is going', new DayGoingError('deliveries_20261123', 'going'), 'row'],
  ['a full disk', state('53100'), 'moment'],
  ['a lock', state('55P03'), 'moment'],
  ['a statement that took too long', state('57014'), 'moment'],
  ['a server that became read-only', state('25006'), 'set-up'],
  ['a transaction in a wrong state', state('25P02'), 'moment'],
  ['a lost connection', new Error('Connection terminated unexpectedly'), 'moment'],
  ['a parameter that a pooler refuses', state('08P01'), 'set-up'],
  ['a table that is gone', state('42P01'), 'set-up'],
  ['a missing right', state('42501'), 'set-up'],
  ['another history', new HistoryRefusal('another'), 'set-up'],
  ['a statement with a mistake', state('42601'), 'bug'],
  ['a state that nobody knows', state('ZZ000'), 'bug'],
  ['a mistake of ours', new TypeError('x is undefined'), 'bug'],
])('%s', (_, error, fault) => {
  expect(judgeHistoryError(error)).toBe(fault);
});

test('what a retry does not mend has a sentence that says what to change', () => {
  expect(findRefusal(state('28P01'))?.message).toBe('HISTORY_URL has a wrong user or password (said so)');
  expect(findRefusal(state('57014'))).toBeUndefined();
});
