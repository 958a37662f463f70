import { useSearchParams } from 'wouter-preact';
import type { Schemas } from '../api/client.ts';
import { adminTexts } from '../texts/admin-texts.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Time, useNow } from '../ui/time.tsx';
import { ForeignText, Badge } from '../ui/words.tsx';
import { rateText } from './byte-text.ts';
import { OpenButton } from './open-button.tsx';
import { useWaitingReceivers } from './queries.ts';
import { emptyText } from './tiles.tsx';

type WaitingReceiver = Schemas['WaitingReceiver'];

/** Where deliveries wait, and why. What is looked for lives in the address. */
export function ReceiversPage() {
  const [query, setQuery] = useSearchParams();
  const find = query.get('find') ?? '';
  const asked = useWaitingReceivers(find);
  const { receivers: title, findReceiver, noReceiver, noReceiverFound } = adminTexts;
  return (
    <>
      <header class="page-head">
        <h1>{title}</h1>
        <input
          class="find-receiver mono"
          type="search"
          aria-label={findReceiver}
          placeholder={findReceiver}
          maxLength={256}
          value={find}
          onInput={({ currentTarget: { value } }) => {
            setQuery(value === '' ? {} : { find: value }, { replace: true });
          }}
        />
      </header>
      <Loaded of={asked}>
        {({ receivers }) =>
          receivers.length === 0 ? (
            <div class="empty">
              <p>{find === '' ? noReceiver : noReceiverFound}</p>
            </div>
          ) : (
            <ReceiverTable rows={receivers} />
          )
        }
      </Loaded>
    </>
  );
}

function ReceiverTable({ rows }: { readonly rows: readonly WaitingReceiver[] }) {
  const { receivers, receiverHeadings: headings, kinds } = adminTexts;
  return (
    <table class="rows" aria-label={receivers}>
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
          <th scope="col" class="col-number">
            {headings.rate}
          </th>
          <th scope="col" class="col-number">
            {headings.empty}
          </th>
          <th scope="col">{headings.why}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.group}>
            <td class="col-receiver">
              {row.workspaceId === null ? (
                <code>{row.group}</code>
              ) : (
                <OpenButton workspaceId={row.workspaceId}>
                  <ForeignText text={row.host ?? adminTexts.unknownHost} />
                </OpenButton>
              )}
              <br />
              <code class="quiet">
                {row.kind === 'receiver' ? row.group : kinds[row.kind]} {row.workspaceId}
              </code>
            </td>
            <td>
              <State row={row} />
            </td>
            <td class="col-number">{row.waiting}</td>
            <td class="col-number">{row.due}</td>
            <td class="col-number">{row.limit === undefined ? row.inWork : `${row.inWork} / ${row.limit}`}</td>
            <td class="col-number">
              {row.sentPerSecond !== undefined && adminTexts.perSecond(rateText(row.sentPerSecond))}
            </td>
            <td class="col-number">{row.due > 0 && row.emptyInMs !== undefined && emptyText(row.emptyInMs)}</td>
            <td class="col-why">{row.why}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function State({
  row: { stopped, breaker, nextProbeAt, pausedUntil, suspectUntil },
}: {
  readonly row: WaitingReceiver;
}) {
  const { states, probe, probing, until } = adminTexts;
  const now = useNow();
  const timed = (word: string, at: string | undefined) =>
    at !== undefined && (
      <span class="quiet">
        {' '}
        {word} <Time at={at} />
      </span>
    );
  if (stopped) return <Badge tone="bad">{states.stopped}</Badge>;
  if (breaker === 'open') {
    return (
      <>
        <Badge tone="bad">{states.open}</Badge>
        {nextProbeAt !== undefined && Date.parse(nextProbeAt) <= now ? (
          <span class="quiet"> {probing}</span>
        ) : (
          timed(probe, nextProbeAt)
        )}
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
