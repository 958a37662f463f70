import { describeHistory } from './history-command.ts';

const MIB = 2 ** 20;

test('a history that works is three lines', () => {
  const days = [
    { day: '20261122', deliveries: 5_000, bytes: 3 * MIB },
    { day: '20261123', deliveries: 20, bytes: MIB },
  ];
  const status = { serverVersion: '15.4', missing: [], ran: ['0001_create-history'], days, overdue: [] };
  expect(describeHistory(status, { count: 7, setAside: 0, oldestAt: 0 }, 3_600_000)).toEqual([
    'PostgreSQL 15.4, schema up to date',
    '2 days, 20261122 to 20261123: about 5020 deliveries, 4 MiB',
    '7 settled deliveries wait in Redis, the first for 60 min',
  ]);
});

test('a database without a schema says what to run', () => {
  const status = { serverVersion: '15.4', missing: ['0001_create-history'], ran: [], days: [], overdue: [] };
  expect(describeHistory(status, { count: 0, setAside: 0 }, 0)).toEqual([
    'PostgreSQL 15.4, schema lacks 0001_create-history: run "herald history migrate" or start a worker',
    'no days yet',
    'nothing waits in Redis',
  ]);
});

test('a day that should be gone is named, and so is what was set aside', () => {
  const overdue = ['deliveries_20260801', 'transitions_20260801'];
  const status = { serverVersion: '15.4', missing: [], ran: ['0001_create-history'], days: [], overdue };
  const lines = describeHistory(status, { count: 7, setAside: 2, oldestAt: 0 }, 3_600_000);
  expect(lines).toContainEqual(expect.stringMatching(/still there: deliveries_20260801, transitions_20260801;/));
  expect(lines).toContainEqual(expect.stringMatching(/^2 of them were set aside/));
});
