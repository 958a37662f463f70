import { isPortFree } from '@herald/test-kit';

/** The addresses of the two processes, and the other settings of the environment. */
export interface LocalSettings {
  api: Listener;
  worker: Listener;
  /** The variables that are set. An empty one counts as unset, as it does for the processes. */
  given: Readonly<Record<string, string>>;
  /** Whether the environment names a Redis. */
  hasRedis: boolean;
}

interface Listener {
  variable: 'PORT' | 'WORKER_PORT';
  host: string;
  port: number;
  /** The url on this machine. */
  url: string;
}

export function readLocalSettings(env: NodeJS.ProcessEnv): LocalSettings {
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && (value !== '' || name === 'RETRY_SCHEDULE')) given[name] = value;
  }
  return {
    api: readListener('PORT', given.PORT ?? '8080', given.HOST ?? '127.0.0.1'),
    worker: readListener('WORKER_PORT', given.WORKER_PORT ?? '8081', given.WORKER_HOST ?? '127.0.0.1'),
    given,
    hasRedis: ['REDIS_URL', 'REDIS_CLUSTER_NODES', 'REDIS_SENTINELS'].some((name) => name in given),
  };
}

function readListener(variable: Listener['variable'], text: string, host: string): Listener {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new Error(`${variable} is ${text}; set it to a port from 1 to 65535.`);
  }
  const seenHost = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return { variable, host, port, url: `http://${seenHost.includes(':') ? `[${seenHost}]` : seenHost}:${port}` };
}

/** @throws Error that says what to set, when another program listens on one of the ports */
export async function refuseTakenPorts({ api, worker }: LocalSettings): Promise<void> {
  for (const { variable, port, host } of [api, worker]) {
    if (await isPortFree(port, host)) continue;
    throw new Error(
      `Port ${port} is taken. Set ${variable} to a free one, such as: ${variable}=${port + 100} npm start`,
    );
  }
}
