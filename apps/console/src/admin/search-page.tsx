import { useSearchParams } from 'wouter-preact';
import { adminTexts } from '../texts/admin-texts.ts';
import { ForeignText } from '../ui/foreign-text.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { OpenButton } from './open-button.tsx';
import { pageOfResult } from './page-of-result.ts';
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
