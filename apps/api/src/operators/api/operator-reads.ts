import type { DestinationList } from './destination-rows.ts';
import type { FailedPage } from './failed-rows.ts';
import type { SearchResults } from './search-view.ts';

/** What operators look up. */
export type OperatorReads = {
  listDestinations: (limit: number, find?: string) => Promise<DestinationList['destinations']>;
  search: (text: string) => Promise<SearchResults['results']>;
  listFailed: (limit: number, cursor?: string) => Promise<FailedPage>;
};
