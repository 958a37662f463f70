import { waitFor, type CertificateAuthority } from '@herald/test-kit';
import { startProgram } from './run-program.ts';

/** `hang` accepts and never answers, `fail` answers 500 at once, `dribble` sends its body a byte at a time, for ever. */
export type Behaviour = 'ok' | 'hang' | 'fail' | 'dribble';

export type ReceiversInput = {
  readonly certPem: string;
  readonly keyPem: string;
  readonly behaviours: readonly Behaviour[];
  /** Costs the receivers a JSON.parse per request. */
  readonly recordArrivals: boolean;
};

/** Of a delivery: its event's `created_at`, when the headers of its first request came, both epoch ms, and its transition. */
export type Arrival = readonly [createdAt: number, arrivedAt: number, transitionId: string];

export type ReceiverState = {
  readonly requests: number;
  /** Different delivery ids. */
  readonly deliveries: number;
  /** Epoch ms; 0 before the first. */
  readonly firstAt: number;
  readonly lastAt: number;
  readonly arrivals?: readonly Arrival[];
};

export type Receivers = AsyncDisposable & {
  readonly pid: number;
  /** One per behaviour, in order; each has a port of its own and so is a destination of its own. */
  readonly origins: readonly string[];
  /** Different deliveries of all receivers so far. */
  readonly count: () => Promise<number>;
  readonly read: () => Promise<readonly ReceiverState[]>;
};

export type ReceiversOptions = {
  readonly ca: CertificateAuthority;
  readonly behaviours: readonly Behaviour[];
  readonly recordArrivals?: boolean;
};

/** HTTPS receivers in one process of their own, so that their CPU shows. */
export async function startReceivers({ ca, behaviours, recordArrivals = false }: ReceiversOptions): Promise<Receivers> {
  const { certPem, keyPem } = await ca.issueCertificate({ hosts: ['127.0.0.1'] });
  const input: ReceiversInput = { certPem, keyPem, behaviours, recordArrivals };
  let started: { origins: string[]; controlPort: number } | undefined;
  const program = await startProgram('receivers', input, (reply) => {
    started = reply as typeof started;
  });
  const { origins, controlPort } = await waitFor('the receivers to listen', () => started);
  const ask = async (path: string): Promise<unknown> => (await fetch(`http://127.0.0.1:${controlPort}${path}`)).json();
  return {
    pid: program.pid,
    origins,
    count: async () => ((await ask('/count')) as { deliveries: number }).deliveries,
    read: async () => (await ask('/state')) as ReceiverState[],
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
}
