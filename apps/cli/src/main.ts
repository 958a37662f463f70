import { DomainError } from '@herald/core';
import { ConfigError } from '@herald/runtime/env/env';
import type { Clock } from '@herald/store/clock/clock';
import { isRedisRefusal, isRedisUnavailable } from '@herald/store/server/is-redis-unavailable';
import { RedisUnreachableError } from '@herald/store/redis/connect-redis';
import { sayRefusal } from '@herald/store/server/refusal';
import { createOutput } from './output/create-output.ts';
import { createProgram } from './create-program.ts';
import { createWithHerald } from './context/open-herald.ts';
import { startProgress } from './context/start-progress.ts';

const { env, stdout, stderr } = process;
/** Redis' time, once there is a connection. */
let clock: Clock | undefined;
const now = () => clock?.now() ?? Date.now();
const follow = (redisClock: Clock) => {
  clock = redisClock;
};
const setExitCode = (code: number) => {
  process.exitCode = code;
};
const output = createOutput({ stdout, stderr, env, now, setExitCode });

// Whoever reads the answer may have read enough: "herald deliveries list | head".
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

try {
  await createProgram({ withHerald: createWithHerald(env, now, follow), output, startProgress, now, env }).parseAsync();
} catch (error) {
  if (error instanceof ConfigError) output.problem(error.message);
  else if (error instanceof RedisUnreachableError) {
    output.problem(error.message);
    // A client that gave up leaves timers and sockets behind, and with them the process would stay for seconds.
    process.exit();
  } else if (error instanceof DomainError) output.problem(`error: ${error.message}`);
  // With its message alone: the error carries the command, and so a key's digest or an encrypted secret.
  else if (isRedisRefusal(error)) output.problem(`Redis refused: ${sayRefusal(error)}`);
  else if (isRedisUnavailable(error)) output.problem('Redis stopped answering. Run this again when it is back.');
  else throw error;
}
