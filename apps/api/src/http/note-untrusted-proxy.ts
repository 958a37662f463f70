import type { Finding } from '@herald/runtime/findings/finding';
import type { Logger } from '@herald/runtime/log/logger';
import {
  PROXY_NOT_TRUSTED,
  UNTRUSTED_PROXY_KEPT_MS,
  type UntrustedProxyMark,
} from '@herald/store/operators/create-readiness';
import type { RequestHandler } from 'express';

/** How often the mark in Redis is renewed at most, in ms. */
const RENEW_MS = 60_000;

export type UntrustedProxyDeps = {
  /** TRUST_PROXY. */
  readonly proxyCount: number;
  readonly mark: Pick<UntrustedProxyMark, 'set'>;
  readonly logger: Logger;
  /** Epoch ms. */
  readonly now: () => number;
};

/** Notes that requests come through a proxy although TRUST_PROXY says that there is none. No request waits for it. */
export function createUntrustedProxyNote({ proxyCount, mark, logger, now }: UntrustedProxyDeps) {
  let seenAt = -Infinity;
  let markedAt = -Infinity;
  const isSeen = () => now() - seenAt < UNTRUSTED_PROXY_KEPT_MS;
  const note: RequestHandler = (req, _res, next) => {
    const { 'x-forwarded-for': forwardedFor, forwarded } = req.headers;
    if (proxyCount === 0 && (forwardedFor !== undefined || forwarded !== undefined)) {
      const at = now();
      if (!isSeen()) logger.warn('proxy.not_trusted');
      seenAt = at;
      if (at - markedAt >= RENEW_MS) {
        markedAt = at;
        void mark.set().catch((error: unknown) => {
          logger.warn('proxy.mark_not_written', {}, error);
        });
      }
    }
    next();
  };
  return {
    note,
    findWarning: (): Finding | undefined => (isSeen() ? PROXY_NOT_TRUSTED : undefined),
  };
}
