import { oneAtATime } from './one-at-a-time.ts';

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
