import type { ApiConfig } from '@herald/config/api-config';
import type { Logger } from '@herald/runtime/log/logger';
import type { Keyspace } from '@herald/store/keyspace/keys';
import { createActivityReader } from '@herald/store/activity/activity-reader';
import { createSearch } from '@herald/store/operators/search';
import { createPortalLinkStore } from '@herald/store/portal-links/portal-link-store';
import type { ReplicatedStoreDeps } from '@herald/store/scripts/replicated-script';
import { createStatsReader } from '@herald/store/stats/stats-reader';
import { createReadStats } from '../deliveries/stats.ts';
import { createManagePortalLinks } from './manage-portal-links.ts';

export type ConsoleDepsOptions = ReplicatedStoreDeps & {
  readonly keyspace: Keyspace;
  readonly config: Pick<ApiConfig, 'publicUrl' | 'operator'>;
  readonly logger: Logger;
  /** Epoch ms. */
  readonly now: () => number;
};

/** What the console needs beside the operations of customers. */
export function createConsoleDeps(options: ConsoleDepsOptions) {
  const { config, logger } = options;
  const portalLinks = createPortalLinkStore(options);
  return {
    findLink: portalLinks.find,
    portalLinkStore: portalLinks,
    portalLinks: createManagePortalLinks({
      portalLinks,
      isKnownWorkspace: createSearch(options).isKnownWorkspace,
      publicUrl: config.publicUrl,
      operator: config.operator,
      logger,
    }),
    activity: createActivityReader(options),
    readStats: createReadStats(createStatsReader(options)),
  };
}
