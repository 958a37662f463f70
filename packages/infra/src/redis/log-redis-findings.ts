import type { Finding } from '../health/finding.ts';
import type { Logger } from '../log/logger.ts';

/** Says at start-up what should be set otherwise in Redis. Nothing here stops a process: it may be an operator's choice. */
export function logRedisFindings(logger: Pick<Logger, 'warn'>, findings: readonly Finding[]): void {
  for (const { code, sentence } of findings) logger.warn('redis.finding', { code, sentence });
}
