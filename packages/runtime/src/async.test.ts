import { createBoundedMap, oneAtATime } from './async.ts';

test('calls while a run is under way get its result, and a later call starts the next run', async () => {
  const runs: PromiseWithResolvers<string>[] = [];
  const run = oneAtATime(() => {
    const started = Promise.withResolvers<string>();
    runs.push(started);
    return started.promise;
  });
  const both = [run(), run()];
  runs[0]?.resolve('first');
  expect(await Promise.all(both)).toEqual(['first', 'first']);
  const failing = run();
  runs[1]?.reject(new Error('away'));
  await expect(failing).rejects.toThrow('away');
  const last = run();
  runs[2]?.resolve('third');
  expect(await last).toBe('third');
});

test('an entry beyond the limit takes the place of the oldest', () => {
  const map = createBoundedMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 3);
  expect([map.get('a'), map.get('b')]).toEqual([3, 2]);
  map.set('c', 4);
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([undefined, 2, 4]);
});
