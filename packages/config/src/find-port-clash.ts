export type Listener = { readonly host: string; readonly port: number };

const ALL_ADDRESSES = ['0.0.0.0', '::'];

type ApiListeners = Listener & {
  /** Where the operator pages are, if they have a port of their own. */
  readonly operatorListener?: Listener | undefined;
};

/** Whether two could not both listen on one machine. */
export function clashes(one: Listener, other: Listener): boolean {
  const hosts = [one.host, other.host];
  const isOneHost = one.host === other.host || hosts.some((host) => ALL_ADDRESSES.includes(host));
  return one.port === other.port && one.port !== 0 && isOneHost;
}

/** The problem of an API and a worker that could not both listen on one machine. */
export function findPortClash(api: ApiListeners, worker: Listener): string | undefined {
  const problemWith = (variable: string) => `WORKER_PORT must not be ${worker.port}, since ${variable} is`;
  if (clashes(api, worker)) return problemWith('PORT');
  if (api.operatorListener && clashes(api.operatorListener, worker)) return problemWith('OPERATOR_PORT');
  return undefined;
}
