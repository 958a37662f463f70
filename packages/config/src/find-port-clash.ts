type Listener = { readonly host: string; readonly port: number };

const ALL_ADDRESSES = ['0.0.0.0', '::'];

/** The problem of an API and a worker that could not both listen on one machine. */
export function findPortClash(api: Listener, worker: Listener): string | undefined {
  const hosts = [api.host, worker.host];
  const isOneHost = api.host === worker.host || hosts.some((host) => ALL_ADDRESSES.includes(host));
  if (api.port !== worker.port || api.port === 0 || !isOneHost) return undefined;
  return `WORKER_PORT must not be ${worker.port}, since PORT is`;
}
