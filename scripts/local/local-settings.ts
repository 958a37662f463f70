import { findPortClash } from '@herald/config/api-config';
import { MEANT_WHEN_EMPTY } from '@herald/config/worker-config';
import { readInteger } from '@herald/runtime/env';
import type { AddressVariables } from '@herald/runtime/listen';

/** The addresses of the two processes, and the other settings of the environment. */
export interface LocalSettings {
  api: Listener;
  worker: Listener;
  /** The variables that are set. An empty one counts as the processes count it. */
  given: Readonly<Record<string, string>>;
  /** Whether the environment names a Redis. */
  hasRedis: boolean;
}

export interface Listener {
  variables: AddressVariables;
  host: string;
  port: number;
  /** The url on this machine. */
  url: string;
}

/** @throws Error with one sentence, when a port is none, or both are the same */
export function readLocalSettings(env: NodeJS.ProcessEnv): LocalSettings {
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && (value !== '' || MEANT_WHEN_EMPTY.includes(name))) given[name] = value;
  }
  const api = readListener({ port: 'PORT', host: 'HOST' }, 8080, given);
  const worker = readListener({ port: 'WORKER_PORT', host: 'WORKER_HOST' }, 8081, given);
  const clash = findPortClash(api, worker);
  if (clash !== undefined) throw new Error(`${clash}. Set it to another one.`);
  const hasRedis = ['REDIS_URL', 'REDIS_CLUSTER_NODES', 'REDIS_SENTINELS'].some((name) => name in given);
  return { api, worker, given, hasRedis };
}

function readListener(
  variables: AddressVariables,
  usualPort: number,
  given: Readonly<Record<string, string>>,
): Listener {
  const [text = String(usualPort), host = '127.0.0.1'] = [given[variables.port], given[variables.host]];
  const port = readInteger(text, 1, 65_535);
  if (port === undefined) throw new Error(`${variables.port} is ${text}; set it to a port from 1 to 65535.`);
  const seenHost = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return { variables, host, port, url: `http://${seenHost.includes(':') ? `[${seenHost}]` : seenHost}:${port}` };
}
