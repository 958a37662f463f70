import { DomainError, ReceiverDisabledError } from '@herald/core';
import { ConfigError } from '@herald/runtime/env/env';
import { isRedisRefusal, isRedisUnavailable } from '@herald/store/server/is-redis-unavailable';
import { RedisUnreachableError } from '@herald/store/redis/connect-redis';
import { sayRefusal } from '@herald/store/server/refusal';
import { createOutput } from './output/create-output.ts';
import { createProgram } from './create-program.ts';
import { createHeraldAccess } from './context/open-herald.ts';
import { startProgress } from './context/start-progress.ts';

const { env, stdout, stderr } = process;
const { openHerald, now } = createHeraldAccess(env);
const setExitCode = (code: number) => {
  process.exitCode = code;
};
const output = createOutput({ stdout, stderr, env, now, setExitCode });

// The reader of a pipe may stop reading: "herald deliveries list | head".
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

try {
  await createProgram({ openHerald, output, startProgress, now, env }).parseAsync();
} catch (error) {
  if (error instanceof ConfigError) output.problem(error.message);
  else if (error instanceof RedisUnreachableError) {
    output.problem(error.message);
    // A client that gave up leaves timers and sockets behind. They would keep the process alive for seconds.
    process.exit();
  } else if (error instanceof ReceiverDisabledError) {
    output.problem(
      `error: ${error.endpointId} is disabled; enable it first: herald receivers enable ${error.endpointId}`,
    );
  } else if (error instanceof DomainError) output.problem(`error: ${error.message}`);
  // Only the message: the error also holds the command, and with it the digest of a key or an encrypted secret.
  else if (isRedisRefusal(error)) output.problem(`Redis refused: ${sayRefusal(error)}`);
  else if (isRedisUnavailable(error)) output.problem('Redis stopped answering. Run this again when it is back.');
  else throw error;
}
