import { patient, waitFor } from './wait-for.ts';

test('waiting ends with the first thing seen', async () => {
  const answers = [undefined, null, false, 0, 1];
  await expect(waitFor('a number', () => answers.shift())).resolves.toBe(0);
});

test('with a condition, waiting goes on until it holds', async () => {
  let count = 0;
  await expect(waitFor('three', () => ++count, { until: (seen) => seen === 3 })).resolves.toBe(3);
});

test('a missed deadline says what was awaited and what was seen last', async () => {
  const waiting = waitFor('two deliveries', () => ['dlv_1'], { until: (all) => all.length === 2, deadlineMs: 20 });
  await expect(waiting).rejects.toThrow(`waited ${patient(20)} ms for two deliveries; last seen: [ 'dlv_1' ]`);
});

test('a probe that never answers misses the deadline too', async () => {
  const never = Promise.withResolvers<true>().promise;
  await expect(waitFor('godot', () => never, 20)).rejects.toThrow('the probe itself never answered');
});

test('of a probe that answers no more, a missed deadline says what was seen last', async () => {
  const never = Promise.withResolvers<number>().promise;
  const answers = [1, 2];
  const waiting = waitFor('three', () => answers.shift() ?? never, { until: (seen) => seen === 3, deadlineMs: 1_000 });
  await expect(waiting).rejects.toThrow(`waited ${patient(1_000)} ms for three; last seen: 2`);
});

test('a probe that throws ends the wait with its own error', async () => {
  const probe = () => Promise.reject(new Error('the probe is broken'));
  await expect(waitFor('anything', probe)).rejects.toThrow('the probe is broken');
});
