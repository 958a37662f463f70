import { z } from 'zod';
import { SearchText } from './waiting-rows.ts';

/** Query of the search. */
export const Search = z.strictObject({ q: SearchText });

export const SearchResults = z
  .strictObject({
    results: z.array(
      z.strictObject({
        kind: z.enum(['workspace', 'receiver', 'delivery', 'task', 'host']),
        id: z.string(),
        workspaceId: z.string(),
        label: z.string(),
      }),
    ),
    complete: z.boolean().meta({ description: 'False: there may be more. Ask for more of the name, or for an id.' }),
  })
  .meta({ id: 'SearchResults' });
export type SearchResults = z.infer<typeof SearchResults>;
