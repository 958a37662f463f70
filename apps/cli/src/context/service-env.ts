import { isAlive, readRunningService, runningFileOf, type RunningService } from '@herald/config/running-service';
import { messageOfThrown } from '@herald/runtime/errors/is-error-like';
import { ConfigError } from '@herald/runtime/env/env';

/** Each says where Redis is: with one of them, the environment is taken as it is. */
const ADDRESSES = ['REDIS_URL', 'REDIS_CLUSTER_NODES', 'REDIS_SENTINELS'];

export type ServiceEnvDeps = {
  readonly env: NodeJS.ProcessEnv;
  readonly localFolder: string;
  /** Tells people about it, once. */
  readonly note: (text: string) => void;
};

/**
 * Finds the variables of the service to work on: those of the environment if it names a Redis or nothing else does, or
 * those of the service that `npm start` runs. What the environment has besides wins.
 * @throws ConfigError when that service has died or is not up yet: another Redis would be a wrong one
 */
export function createServiceEnv({ env, localFolder, note }: ServiceEnvDeps): () => NodeJS.ProcessEnv {
  const find = () => {
    if (ADDRESSES.some((name) => (env[name] ?? '') !== '')) return env;
    const file = runningFileOf(localFolder);
    const running = read(localFolder, file);
    if (!running) return env;
    if (!isAlive(running))
      throw new ConfigError(
        `The service of npm start has died: its process ${running.pid} is gone. Start it again, or set REDIS_URL to use ` +
          `another one (${file} is left of it).`,
      );
    if (!running.env)
      throw new ConfigError('npm start is starting the service. Try again when it says that Herald is running.');
    note(`Using the service of npm start, at ${running.apiUrl}.`);
    const given = Object.entries(env).filter(([, value]) => value !== '');
    return { ...running.env, ...Object.fromEntries(given) };
  };
  let found: NodeJS.ProcessEnv | undefined;
  return () => (found ??= find());
}
export type ServiceEnv = ReturnType<typeof createServiceEnv>;

function read(folder: string, file: string): RunningService | undefined {
  try {
    return readRunningService(folder);
  } catch (error) {
    throw new ConfigError(`${file} can't be read (${messageOfThrown(error)}). Set REDIS_URL, or remove the file.`);
  }
}
