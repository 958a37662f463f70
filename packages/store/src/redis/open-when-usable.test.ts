import { RedisUnreachableError } from './connect-redis.ts';
import { explainStartFailure } from './open-when-usable.ts';

test('what Redis refuses is one sentence, which repeats nothing of the command', () => {
  const message = "ERR unknown command 'AUTH', with args beginning with: 'hunter2' ";
  const error = Object.assign(new Error(message), {
    name: 'ReplyError',
    command: { name: 'eval', args: ['return 1'] },
  });
  expect(explainStartFailure(error)).toBe(
    'Redis failed this start (ERR unknown command \'AUTH\'); "herald doctor" says what to set.',
  );
});

test('a Redis that is not reached is told in its own words', () => {
  const error = Object.assign(Object.create(RedisUnreachableError.prototype) as Error, { message: 'Redis is away' });
  expect(explainStartFailure(error)).toBe('Redis is away');
});

test('what nobody foresaw is left as it is', () => {
  expect(explainStartFailure(new TypeError('x is not a function'))).toBeUndefined();
});
