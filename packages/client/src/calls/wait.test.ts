import { wait } from './wait.ts';

test('a wait ends by itself, and at once when its signal is aborted', async () => {
  const controller = new AbortController();
  await wait(1, controller.signal);
  const waiting = wait(60_000, controller.signal);
  controller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await expect(wait(60_000, controller.signal)).rejects.toThrow('enough');
});
