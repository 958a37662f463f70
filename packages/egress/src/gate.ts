import type { OwnFaultError } from './egress-errors.ts';

/** Hears how the way out does. */
export type GateReport<Failure extends OwnFaultError> = {
  /** Something went wrong that is no receiver's fault, or a look found that it still is. */
  readonly failed: (error: Failure) => void;
  /** It works again. */
  readonly recovered: () => void;
};

export type GateDeps<Failure extends OwnFaultError> = {
  /**
   * Whether what failed works again. False: perhaps, and sending may find out. Rejects with a `Failure` when it certainly
   * doesn't.
   */
  readonly look: (failure: Failure) => Promise<boolean>;
  /** Whether the failure doesn't depend on the destination: then nothing goes out. */
  readonly concernsAll: (failure: Failure) => boolean;
  /** Whether only sending can tell that the failure is over. */
  readonly outlastsLooks?: (failure: Failure) => boolean;
  readonly report: GateReport<Failure>;
};

/** How long the gate is shut before the proxy is looked at, in ms: doubles up to the second value. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;
/** A proxy may refuse single destinations. So many failures in a row, without a success, are perhaps about all. */
const DOUBTED_AT = 3;
/** So many destinations are about all, unless others still work; then everything waits. */
const SHUT_AT = 10;
/** A way out over which something got within this time, in ms, works, however many destinations fail. */
const WORKS_FOR_MS = 5_000;

/**
 * A way out that may fail for everybody: the platform's own proxy, or this machine's network and resolver. While it
 * fails, the gate is shut: nothing is tried, so that a long queue costs nothing, and a look every few seconds finds out
 * when it is back.
 */
export function createGate<Failure extends OwnFaultError>(deps: GateDeps<Failure>) {
  const { look, report, outlastsLooks = () => false } = deps;
  let failure: Failure | undefined;
  let failures = 0;
  let workedAt = -Infinity;
  /** Those that failed since something got out, or since the gate opened; as many as matter. */
  const destinations = new Set<string>();
  let isOpen = true;
  let waitMs = FIRST_WAIT_MS;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let tell: (isOpen: boolean) => void = () => undefined;

  const concernsAll = (): boolean => failure !== undefined && deps.concernsAll(failure);

  const note = (error: Failure): void => {
    failure = error;
    failures++;
    report.failed(error);
  };

  const isAboutAll = (): boolean =>
    concernsAll() || (destinations.size >= SHUT_AT && performance.now() - workedAt >= WORKS_FOR_MS);

  const clear = (): void => {
    if (failure === undefined) return;
    failure = undefined;
    failures = 0;
    destinations.clear();
    report.recovered();
  };

  const open = (): void => {
    clearTimeout(timer);
    if (isOpen) return;
    isOpen = true;
    destinations.clear();
    tell(true);
  };

  const lookLater = (): void => {
    timer = setTimeout(() => {
      waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS);
      if (failure === undefined) return;
      look(failure).then(pass, (error: unknown) => {
        if (isClosed || isOpen) return;
        note(error as Failure);
        lookLater();
      });
    }, waitMs);
  };

  const pass = (works: boolean): void => {
    if (isClosed || isOpen) return;
    if (works && failure !== undefined && concernsAll() && !outlastsLooks(failure)) clear();
    open();
  };

  const worked = (): void => {
    workedAt = performance.now();
    clear();
    waitMs = FIRST_WAIT_MS;
    open();
  };

  return {
    isOpen: (): boolean => isOpen,
    /** @param listener hears when the gate opens or shuts; there is one at most */
    watch: (listener: (isOpen: boolean) => void): void => {
      tell = listener;
    },
    /** The last failure, until it works again. */
    failure: (): Failure | undefined => failure,
    /** Whether it is about all, and not perhaps about one destination. */
    isDoubted: (): boolean => concernsAll() || failures >= DOUBTED_AT,
    /** Something got out. */
    worked,
    /** An answer came over a connection that was there before. That says nothing of what keeps every new one from being made. */
    carried: (): void => {
      if (!concernsAll()) worked();
    },
    /** @param destination what it may be about, if not about all */
    failed: (error: Failure, destination?: string): void => {
      if (isClosed) return;
      note(error);
      if (destination !== undefined && destinations.size < SHUT_AT) destinations.add(destination);
      if (!isOpen || !isAboutAll()) return;
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
export type Gate<Failure extends OwnFaultError> = ReturnType<typeof createGate<Failure>>;
