import type { Logger } from '@herald/runtime/log/logger';
import type { UpgradeEvents } from './take-over-data.ts';

export function createUpgradeEvents(logger: Logger): UpgradeEvents {
  return {
    began: () => {
      logger.info('upgrade.began');
    },
    ended: (report) => {
      logger.info('upgrade.ended', report);
    },
    waits: () => {
      logger.info('upgrade.waits');
    },
    watches: (processes, forMs) => {
      logger.info('upgrade.watches', { processes, forMs });
    },
  };
}
