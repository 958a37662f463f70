import type { Finding } from '@herald/runtime/findings/finding';
import type { Logger } from '@herald/runtime/log/logger';
import type { DataMetrics } from './create-data-metrics.ts';

export type LossReportDeps = { readonly logger: Logger; readonly metrics: DataMetrics };

/** Tells that the data has vanished, or (undefined) is there again. */
export function createLossReport({ logger, metrics }: LossReportDeps): (loss: Finding | undefined) => void {
  return (loss) => {
    metrics.showLoss(loss !== undefined);
    if (loss) logger.error('data.lost', { code: loss.code, sentence: loss.sentence });
    else logger.info('data.back');
  };
}
