import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { ConfigError } from './env.ts';
import { isErrorLike } from './errors.ts';

export type ListenAddress = {
  readonly host: string;
  /** 0: the system chooses a free one. */
  readonly port: number;
  /** Connections that the system keeps until the process takes them. */
  readonly backlog?: number;
};

/** The variables that an address came from. */
export type AddressVariables = { readonly port: string; readonly host: string };

/**
 * Listens, and returns the port.
 * @throws ConfigError with one sentence when this address can't be had
 */
export async function listen(server: Server, address: ListenAddress, variables: AddressVariables): Promise<number> {
  try {
    server.listen(address);
    await once(server, 'listening');
  } catch (error) {
    const sentence = explainListenFailure(error, address, variables);
    throw sentence === undefined ? error : new ConfigError(sentence);
  }
  return (server.address() as AddressInfo).port;
}

/** Undefined for an error that has nothing to do with the address. */
function explainListenFailure(
  error: unknown,
  { host, port }: ListenAddress,
  variables: AddressVariables,
): string | undefined {
  switch (isErrorLike(error) && 'code' in error ? error.code : undefined) {
    case 'EADDRINUSE':
      return `Port ${port} is taken on ${host}. Set ${variables.port} to a free one.`;
    case 'EACCES':
      return `This user may not listen on port ${port} of ${host}. Set ${variables.port} to one from 1024 on.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `This machine has no address ${host} to listen on. Set ${variables.host} to one that it has, such as 127.0.0.1, or 0.0.0.0 for all.`;
    default:
      return undefined;
  }
}
