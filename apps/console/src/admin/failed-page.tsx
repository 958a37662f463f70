import type { Schemas } from '../api/client.ts';
import { explainCode } from '../deliveries/explain-attempt.ts';
import { EventName, MoreRows } from '../deliveries/parts.tsx';
import { adminTexts } from '../texts/admin-texts.ts';
import { latencyText } from '../time/time-text.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Time } from '../ui/time.tsx';
import { Code, ForeignText } from '../ui/words.tsx';
import { OpenButton } from './open-button.tsx';
import { useFailed } from './queries.ts';

/** What failed lately, in every workspace. */
export function FailedPage() {
  const pages = useFailed();
  const { failed, noFailed, failedHeadings: headings } = adminTexts;
  return (
    <>
      <header class="page-head">
        <h1>{failed}</h1>
      </header>
      <Loaded of={pages}>
        {(data) => {
          const rows = data.pages.flatMap(({ deliveries }) => deliveries);
          if (rows.length === 0) {
            return (
              <div class="empty">
                <p>{noFailed}</p>
              </div>
            );
          }
          return (
            <>
              <table class="rows" aria-label={failed}>
                <thead>
                  <tr>
                    <th scope="col">{headings.event}</th>
                    <th scope="col">{headings.failed}</th>
                    <th scope="col">{headings.workspace}</th>
                    <th scope="col">{headings.host}</th>
                    <th scope="col" class="col-number">
                      {headings.tries}
                    </th>
                    <th scope="col">{headings.answer}</th>
                    <th scope="col">{headings.reason}</th>
                  </tr>
                </thead>
                <tbody>
                  {rows.map((row) => (
                    <FailedRow key={row.id} row={row} />
                  ))}
                </tbody>
              </table>
              {pages.hasNextPage && (
                <MoreRows isLoading={pages.isFetchingNextPage} load={() => void pages.fetchNextPage()} />
              )}
            </>
          );
        }}
      </Loaded>
    </>
  );
}

function FailedRow({ row }: { readonly row: Schemas['FailedDelivery'] }) {
  const { id, workspaceId, host, event, createdAt, failedAt, tries, reason, lastAttempt } = row;
  return (
    <tr>
      <td>
        <OpenButton workspaceId={workspaceId} page={`/console/deliveries/${id}`}>
          <EventName event={event} />
        </OpenButton>
      </td>
      <td class="col-time">
        <Time at={failedAt ?? createdAt} />
      </td>
      <td>
        <code class="quiet">{workspaceId}</code>
      </td>
      <td class="mono">
        <ForeignText text={host ?? adminTexts.unknownHost} />
      </td>
      <td class="col-number">{tries}</td>
      <td class="col-answer">
        {lastAttempt && (
          <>
            <span class="outcome outcome-bad">
              {lastAttempt.status ?? <Code code={lastAttempt.error ?? 'connection_failed'} />}
            </span>{' '}
            <span class="quiet">{latencyText(lastAttempt.durationMs)}</span>
          </>
        )}
      </td>
      <td title={reason && explainCode(reason)?.meaning}>{reason !== undefined && <Code code={reason} />}</td>
    </tr>
  );
}
