import { ProxyFailedError, type ProxyFailure } from './egress-errors.ts';

/** Hears how the proxy does. */
export type ProxyReport = {
  /** A tunnel or a look at the proxy failed. */
  readonly failed: (error: ProxyFailedError) => void;
  /** It works again. */
  readonly recovered: () => void;
};

export type ProxyGateDeps = {
  /** Whether the proxy answers. Rejects with a `ProxyFailedError` when it isn't reached. */
  readonly look: () => Promise<boolean>;
  readonly report: ProxyReport;
};

/** How long the gate is shut before the proxy is looked at, in ms: doubles up to the second value. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;
/** A proxy may refuse single destinations. So many failures in a row, without a success, are about the proxy. */
const DOUBTED_AT = 3;
/** Likewise; then everything waits. */
const SHUT_AT = 10;

/** These don't depend on the destination: nothing goes out. */
const CONCERNS_ALL: ReadonlySet<ProxyFailure> = new Set([
  'lookup_failed',
  'connect_failed',
  'tls_failed',
  'timed_out',
  'unauthenticated',
]);

/**
 * Judges from what becomes of tunnels whether the proxy works. While it doesn't, the gate is shut: nothing is tried, so
 * that a long queue costs nothing, and one look at the proxy every few seconds finds out when it is back.
 */
export function createProxyGate({ look, report }: ProxyGateDeps) {
  let failure: ProxyFailedError | undefined;
  let failures = 0;
  let isOpen = true;
  let waitMs = FIRST_WAIT_MS;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let tell: (isOpen: boolean) => void = () => undefined;

  const concernsAll = (): boolean => failure !== undefined && CONCERNS_ALL.has(failure.reason);

  const note = (error: ProxyFailedError): void => {
    failure = error;
    failures++;
    report.failed(error);
  };

  const clear = (): void => {
    if (failure === undefined) return;
    failure = undefined;
    failures = 0;
    report.recovered();
  };

  const open = (): void => {
    clearTimeout(timer);
    if (isOpen) return;
    isOpen = true;
    tell(true);
  };

  const lookLater = (): void => {
    timer = setTimeout(() => {
      waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS);
      look().then(pass, (error: unknown) => {
        if (isClosed || isOpen) return;
        if (error instanceof ProxyFailedError) note(error);
        lookLater();
      });
    }, waitMs);
  };

  /**
   * The proxy is there. Whether it makes tunnels again, only tunnels can tell. They also go when it accepted a connection
   * and was silent: it may only ignore a look.
   */
  const pass = (isAnswering: boolean): void => {
    if (isClosed || isOpen) return;
    if (isAnswering && concernsAll() && failure?.reason !== 'unauthenticated') clear();
    open();
  };

  return {
    isOpen: (): boolean => isOpen,
    /** @param listener hears when the gate opens or shuts; there is one at most */
    watch: (listener: (isOpen: boolean) => void): void => {
      tell = listener;
    },
    /** The last failure, until the proxy works again. */
    failure: (): ProxyFailedError | undefined => failure,
    /** Whether the proxy itself is at fault, and not perhaps only what it thinks of one destination. */
    isDoubted: (): boolean => concernsAll() || failures >= DOUBTED_AT,
    /** The proxy did its part for a tunnel. */
    worked(): void {
      clear();
      waitMs = FIRST_WAIT_MS;
      open();
    },
    failed: (error: ProxyFailedError): void => {
      if (isClosed) return;
      note(error);
      if (!isOpen || !(concernsAll() || failures >= SHUT_AT)) return;
      isOpen = false;
      tell(false);
      lookLater();
    },
    close(): void {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
