import { oneAtATime } from '@herald/runtime/async';
import { lookup as systemLookup, Resolver } from 'node:dns/promises';
import type { Lookup } from './dial.ts';
import { EgressFailedError } from './egress-errors.ts';

/** Where names are looked up. */
export type NameSource = {
  /** The servers to ask (`1.1.1.1`, `[2606:4700::1111]:53`); none: those of the system. */
  readonly servers?: readonly string[] | undefined;
  /**
   * The system's resolver is asked, with its hosts file and its search domains. It takes one of libuv's four threads per
   * look-up, so four domains with silent name servers hold up all others.
   */
  readonly bySystem?: boolean | undefined;
};

/** What the resolver does when it is asked for nothing but itself. */
export type ResolverState = 'serves' | 'refuses' | 'silent';

/** Limit of one question to one server. Both families are asked at once. */
const ANSWER_WITHIN_MS = 2_000;
const TRIES = 3;
/** How long the resolver may be silent before it is asked whether it is there, in ms. */
const LOOK_AFTER_MS = 500;

/** Names of this machine itself: they need no question (RFC 6761 section 6.3). */
const LOCAL_NAME = /(^|\.)localhost\.?$/i;
const LOOPBACK: readonly string[] = ['127.0.0.1', '::1'];

/** The resolver has done its part: there is no such name, or no such record, or it can't be a name. */
const SERVED = new Set(['ENOTFOUND', 'ENODATA', 'EAI_NODATA', 'EAI_NONAME', 'EBADNAME', 'EFORMERR', 'EBADRESP']);
/** No answer came. Otherwise it was one that says that the question couldn't be answered. */
const SILENT = new Set(['ECONNREFUSED', 'ETIMEOUT', 'ETIMEDOUT', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH']);

/** Asks the servers that the system names now (`/etc/resolv.conf`), until others are set. */
const openResolver = () => new Resolver({ timeout: ANSWER_WITHIN_MS, tries: TRIES, maxTimeout: ANSWER_WITHIN_MS });

/**
 * Resolves names by c-ares, which takes no thread, or on request by the system. Concurrent look-ups of one name share
 * one question.
 *
 * A question that fails may be the fault of the name's own servers or of the resolver. If the resolver has served anybody
 * since, it is the name's. If nobody asked, the resolver is asked for the servers of the root, which each one knows. When
 * it doesn't answer that, the look-up rejects with an `EgressFailedError`.
 *
 * Some resolvers never tell of the root: they refuse the question, or a filter drops it. So that says nothing of one that
 * has served names and hasn't told of the root. It is asked when the first name is found, to know it in time.
 *
 * c-ares reads once which servers the system has. So each look reads it anew: a machine may get others at any time.
 * @throws when one of the servers is not an address
 */
export function createLookup(
  { servers = [], bySystem = false }: NameSource,
  askSystem = lookUpBySystem,
  open = openResolver,
) {
  let resolver = open();
  if (servers.length > 0) resolver.setServers(servers);
  let movedAt = -Infinity;
  let servedAt = -Infinity;
  let answeredAt = -Infinity;
  let lookedAt = -Infinity;
  /** Whether these servers tell of the root. Undefined: not known yet. */
  let tellsOfRoot: boolean | undefined;

  /** Whether what they do when they are asked for the root is what they do with every question. */
  const isRootTelling = (): boolean => tellsOfRoot ?? servedAt === -Infinity;

  const followSystem = (): void => {
    if (servers.length > 0) return;
    const opened = open();
    if (String(opened.getServers()) === String(resolver.getServers())) return;
    resolver = opened;
    movedAt = performance.now();
    servedAt = -Infinity;
    tellsOfRoot = undefined;
  };

  const lookOnce = async (): Promise<ResolverState> => {
    lookedAt = performance.now();
    followSystem();
    const hadServed = servedAt > -Infinity;
    const code = await resolver.resolveNs('.').then(() => 'ENODATA', codeOf);
    const isSilent = SILENT.has(code);
    if (!isSilent) answeredAt = performance.now();
    if (SERVED.has(code)) {
      servedAt = answeredAt;
      tellsOfRoot = true;
      return 'serves';
    }
    if (tellsOfRoot === undefined && hadServed) tellsOfRoot = false;
    // Names are found meanwhile: it may have come back just now, or it tells of the root no more. The next name asks.
    if (tellsOfRoot === true && servedAt >= lookedAt) tellsOfRoot = undefined;
    return isSilent ? 'silent' : 'refuses';
  };
  const look = oneAtATime(lookOnce);
  const lookNow = (): void => {
    void look();
  };

  const noteServed = (): void => {
    servedAt = answeredAt = performance.now();
    if (tellsOfRoot === undefined) lookNow();
  };

  const judge = async (error: unknown, askedAt: number): Promise<unknown> => {
    const code = codeOf(error);
    if (SERVED.has(code)) noteServed();
    else if (!SILENT.has(code)) answeredAt = performance.now();
    if (servedAt >= askedAt || !('syscall' in (error as object))) return error;
    const looking = look();
    // Those that the system has now may be others than those that failed.
    if (movedAt >= askedAt) return new EgressFailedError('resolver_away', code);
    if (tellsOfRoot === false) return error;
    const state = await looking;
    if (servedAt >= askedAt || !isRootTelling()) return error;
    if (!SILENT.has(code)) return new EgressFailedError('resolver_refuses', code);
    return state === 'silent' ? new EgressFailedError('resolver_away', code) : error;
  };
  const ask = async (question: Promise<readonly string[]>): Promise<readonly string[]> => {
    const askedAt = performance.now();
    const timer = setTimeout(() => {
      if (servedAt < askedAt) lookNow();
    }, LOOK_AFTER_MS);
    try {
      const addresses = await question;
      noteServed();
      return addresses;
    } catch (error) {
      throw await judge(error, askedAt);
    } finally {
      clearTimeout(timer);
    }
  };

  const underWay = new Map<string, readonly Promise<readonly string[]>[]>();
  const lookup: Lookup = (host) => {
    if (!bySystem && LOCAL_NAME.test(host)) return [Promise.resolve(LOOPBACK)];
    const asked = underWay.get(host);
    if (asked !== undefined) return asked;
    const questions = bySystem ? [askSystem(host)] : [resolver.resolve4(host), resolver.resolve6(host)];
    const parts = questions.map(ask);
    underWay.set(host, parts);
    void Promise.allSettled(parts).then(() => underWay.delete(host));
    return parts;
  };
  return Object.assign(lookup, {
    /** Whether it has answered nobody since then (`performance.now()`), although it was looked at and would tell of the root. */
    isSilentSince: (at: number): boolean => lookedAt >= at && answeredAt < at && isRootTelling(),
    look,
  });
}
export type NameLookup = ReturnType<typeof createLookup>;

async function lookUpBySystem(host: string): Promise<readonly string[]> {
  const found = await systemLookup(host, { all: true });
  return found.map(({ address }) => address);
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}
