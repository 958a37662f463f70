import { putBack } from './put-back.ts';

function replyError(message: string): Error {
  return Object.assign(new Error(message), { name: 'ReplyError' });
}

/** A move that fails so many times. */
function build(failures: number, error: Error) {
  const calls = { count: 0 };
  const move = () => {
    calls.count++;
    return calls.count <= failures ? Promise.reject(error) : Promise.resolve();
  };
  return { move, calls };
}

test('a job is put back as soon as Redis takes writes again', async () => {
  const { move, calls } = build(3, replyError('MISCONF Errors writing to the AOF file: No space left on device'));
  await putBack(move, 1);
  expect(calls.count).toBe(4);
});

test('a job that another worker has is let go of at once', async () => {
  const { move, calls } = build(1, new Error('Missing lock for job dlv_a. moveToDelayed'));
  await expect(putBack(move, 1)).rejects.toThrow('Missing lock');
  expect(calls.count).toBe(1);
});

test('a Redis that never takes it is not asked for ever', async () => {
  const { move, calls } = build(Infinity, replyError('OOM command not allowed when used memory > maxmemory'));
  await expect(putBack(move, 0)).rejects.toThrow('OOM');
  expect(calls.count).toBe(80);
});
