import { useSearchParams } from 'wouter-preact';
import type { Schemas } from '../api/client.ts';
import { adminTexts } from '../texts/admin-texts.ts';
import { Loaded } from '../ui/loaded.tsx';
import { ForeignText } from '../ui/words.tsx';
import { OpenButton } from './open-button.tsx';
import { useSearch } from './queries.ts';

/** What was found, and the way into each one's console. */
export function SearchPage() {
  const [query] = useSearchParams();
  const q = query.get('q') ?? '';
  const asked = useSearch(q);
  const { search } = adminTexts;
  return (
    <>
      <header class="page-head">
        <h1>
          {adminTexts.find}: <ForeignText text={q} />
        </h1>
      </header>
      <Loaded of={asked}>
        {({ results, complete }) => (
          <>
            {!complete && <p>{search.incomplete}</p>}
            {results.length === 0 ? (
              <div class="empty">
                <p>{search.none}</p>
                <p>{search.hint}</p>
              </div>
            ) : (
              <ul class="results">
                {results.map((result) => (
                  <li key={`${result.kind} ${result.id}`}>
                    <span class="tag">{search.kinds[result.kind]}</span>
                    <OpenButton workspaceId={result.workspaceId} page={pageOfResult(result)}>
                      <ForeignText text={result.label} />
                    </OpenButton>
                    <code class="quiet">{result.workspaceId}</code>
                  </li>
                ))}
              </ul>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

type Found = Pick<Schemas['SearchResults']['results'][number], 'kind' | 'id'>;

/** Where in its workspace's console a thing is. */
function pageOfResult({ kind, id }: Found): string {
  switch (kind) {
    case 'receiver':
      return `/console/receivers/${id}`;
    case 'delivery':
      return `/console/deliveries/${id}`;
    case 'task':
      return `/console/tasks/${id}`;
    case 'workspace':
    case 'host':
      return '/console/receivers';
  }
}
