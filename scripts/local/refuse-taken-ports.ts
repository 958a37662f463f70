import { createServer } from 'node:net';
import { once } from 'node:events';
import { listen } from '@herald/runtime/listen';
import { ConfigError } from '@herald/runtime/env';
import type { Listener, LocalSettings } from './local-settings.ts';

/** Added to a taken port for an example of another one. */
const FURTHER = 100;

/** @throws Error with a line for each of the two addresses that can't be had, and with what to type instead */
export async function refuseTakenPorts({ api, worker }: LocalSettings): Promise<void> {
  const refusals = await Promise.all([api, worker].map((listener) => findRefusal(listener)));
  const sentences = refusals.filter((refusal) => refusal !== undefined);
  if (sentences.length === 0) return;
  const refused = [api, worker].filter((_, index) => refusals[index] !== undefined);
  const examples = await Promise.all(refused.map(findExample));
  const command = examples.includes(undefined) ? [] : [`Such as: ${examples.join(' ')} npm start`];
  throw new Error([...sentences, ...command].join('\n'));
}

/** Undefined when a process could listen there now. */
async function findRefusal({ host, port, variables }: Listener): Promise<string | undefined> {
  const server = createServer();
  try {
    await listen(server, { host, port }, variables);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return undefined;
}

/** A port that is free, as it is typed. Undefined when the example is taken too, or the host is wrong. */
async function findExample(listener: Listener): Promise<string | undefined> {
  const port = listener.port + FURTHER;
  if (port > 65_535 || (await findRefusal({ ...listener, port })) !== undefined) return undefined;
  return `${listener.variables.port}=${port}`;
}
