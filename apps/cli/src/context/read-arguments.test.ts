import { readEndpointId, readLimit, listReader, readReceiverId, timeReader } from './read-arguments.ts';

const NOW = Date.UTC(2030, 0, 31, 12);

test.each([
  ['2h', NOW - 7_200_000],
  ['2030-01-31T12:00:00Z', NOW],
  ['2030-01-31T14:00+02:00', NOW],
  ['today', new Date(NOW).setHours(0, 0, 0, 0)],
  ['2030-01-30', new Date(NOW - 86_400_000).setHours(0, 0, 0, 0)],
  ['2030-01-30 14:00', new Date(NOW - 86_400_000).setHours(14, 0, 0, 0)],
  ['2030-01-30T14:00:30', new Date(NOW - 86_400_000).setHours(14, 0, 30, 0)],
])('the time %s', (text, at) => {
  expect(timeReader(() => NOW)(text)).toBe(at);
});

test.each([
  '',
  'yesterday',
  '24:00',
  '7:5',
  '2030-13-31',
  '2030-13-31T12:00:00Z',
  '2030-02-30',
  '2030-02-29T12:00:00Z',
  '-2h',
  '1893456000000',
])('the time %j is refused with two examples', (text) => {
  expect(() => timeReader(() => NOW)(text)).toThrow(
    /such as 2h or 3d, a time of the clock such as 14:00, or one such as 2030/,
  );
});

test('a time of the clock is the last one', () => {
  const read = timeReader(() => NOW);
  const clockOf = (ms: number) => {
    const at = new Date(ms);
    return `${at.getHours()}:${String(at.getMinutes()).padStart(2, '0')}`;
  };
  for (const agoMs of [0, 3_600_000, 23 * 3_600_000]) expect(read(clockOf(NOW - agoMs))).toBe(NOW - agoMs);
  expect(read(clockOf(NOW + 60_000))).toBe(NOW + 60_000 - 86_400_000);
});

test.each([
  ['1', 1],
  ['1000', 1_000],
])('the limit %s', (text, limit) => {
  expect(readLimit(text)).toBe(limit);
});

test.each(['', '0', '1001', '5.5', '1e3', '-1'])('the limit %j is refused', (text) => {
  expect(() => readLimit(text)).toThrow('from 1 to 1000');
});

test('a list accepts known items only', () => {
  const read = listReader(['failed', 'canceled']);
  expect(read('canceled,failed')).toEqual(['failed', 'canceled']);
  for (const text of ['', 'failed,', 'failed,lost']) expect(() => read(text)).toThrow('must be of failed, canceled');
});

test('an endpoint is a receiver or a callback', () => {
  const tail = '01m7wyndtadddfeszmz5b3xx5r';
  expect([readEndpointId(`wh_${tail}`), readEndpointId(`cb_${tail}`)]).toEqual([`wh_${tail}`, `cb_${tail}`]);
  expect(() => readReceiverId(`cb_${tail}`)).toThrow('must be the id of a receiver');
  expect(() => readEndpointId(`task_${tail}`)).toThrow(/must be the id of a receiver, .* or of a callback/);
});
