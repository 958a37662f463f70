import { useSearchParams } from 'wouter-preact';
import type { Schemas } from '../api/client.ts';
import { adminTexts } from '../texts/admin-texts.ts';
import { Badge } from '../ui/badge.tsx';
import { ForeignText } from '../ui/foreign-text.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Time } from '../ui/time.tsx';
import { OpenButton } from './open-button.tsx';
import { useDestinations } from './queries.ts';

type Destination = Schemas['Destination'];

/** Where deliveries wait, and why. What is looked for lives in the address. */
export function DestinationsPage() {
  const [query, setQuery] = useSearchParams();
  const find = query.get('find') ?? '';
  const asked = useDestinations(find);
  const { destinations: title, findDestination, noDestination, noDestinationFound } = adminTexts;
  return (
    <>
      <header class="page-head">
        <h1>{title}</h1>
        <input
          class="find-destination mono"
          type="search"
          aria-label={findDestination}
          placeholder={findDestination}
          maxLength={256}
          value={find}
          onInput={({ currentTarget: { value } }) => {
            setQuery(value === '' ? {} : { find: value }, { replace: true });
          }}
        />
      </header>
      <Loaded of={asked}>
        {({ destinations }) =>
          destinations.length === 0 ? (
            <div class="empty">
              <p>{find === '' ? noDestination : noDestinationFound}</p>
            </div>
          ) : (
            <DestinationTable rows={destinations} />
          )
        }
      </Loaded>
    </>
  );
}

function DestinationTable({ rows }: { readonly rows: readonly Destination[] }) {
  const { destinations, destinationHeadings: headings } = adminTexts;
  return (
    <table class="rows" aria-label={destinations}>
      <thead>
        <tr>
          <th scope="col">{headings.host}</th>
          <th scope="col">{headings.state}</th>
          <th scope="col" class="col-number">
            {headings.waiting}
          </th>
          <th scope="col" class="col-number">
            {headings.due}
          </th>
          <th scope="col" class="col-number">
            {headings.work}
          </th>
          <th scope="col">{headings.why}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.group}>
            <td class="col-destination">
              {row.workspaceId === null ? (
                <code>{row.group}</code>
              ) : (
                <OpenButton workspaceId={row.workspaceId}>
                  <ForeignText text={row.host ?? adminTexts.unknownHost} />
                </OpenButton>
              )}
              <br />
              <code class="quiet">{row.workspaceId}</code>
            </td>
            <td>
              <State row={row} />
            </td>
            <td class="col-number">{row.waiting}</td>
            <td class="col-number">{row.due}</td>
            <td class="col-number">{row.limit === undefined ? row.inWork : `${row.inWork} / ${row.limit}`}</td>
            <td class="col-why">{row.why}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function State({ row: { breaker, nextProbeAt, pausedUntil, suspectUntil } }: { readonly row: Destination }) {
  const { states, probe, until } = adminTexts;
  const timed = (word: string, at: string | undefined) =>
    at !== undefined && (
      <span class="quiet">
        {' '}
        {word} <Time at={at} />
      </span>
    );
  if (breaker === 'open') {
    return (
      <>
        <Badge tone="bad">{states.open}</Badge>
        {timed(probe, nextProbeAt)}
      </>
    );
  }
  if (pausedUntil !== undefined) {
    return (
      <>
        <Badge tone="wait">{states.paused}</Badge>
        {timed(until, pausedUntil)}
      </>
    );
  }
  return suspectUntil === undefined ? (
    <Badge tone="good">{states.fine}</Badge>
  ) : (
    <Badge tone="wait">{states.suspect}</Badge>
  );
}
