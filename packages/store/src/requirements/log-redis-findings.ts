import type { Finding } from '@herald/runtime/findings/finding';
import type { Logger } from '@herald/runtime/log/logger';

/** Says at start-up what should be set otherwise in Redis. Nothing here stops a process: it may be an operator's choice. */
export function logRedisFindings(logger: Pick<Logger, 'warn'>, findings: readonly Finding[]): void {
  for (const { code, sentence } of findings) logger.warn('redis.finding', { code, sentence });
}
