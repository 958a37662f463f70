import { useSearchParams } from 'wouter-preact';
import type { Schemas } from '../api/client.ts';
import { LatencyChart, CountChart } from '../charts/charts.tsx';
import { adminTexts } from '../texts/admin-texts.ts';
import { chartTexts } from '../texts/texts.ts';
import { LONGEST_MS } from '../time/time-text.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Time } from '../ui/time.tsx';
import { Sentence, Badge } from '../ui/words.tsx';
import { byteText } from './byte-text.ts';
import { type OverviewWindow, useOverview } from './queries.ts';
import { Tiles } from './tiles.tsx';

const WINDOWS: readonly OverviewWindow[] = ['1h', '24h'];

/** How the whole service does: what is wrong first, then the numbers. */
export function OverviewPage() {
  const [query, setQuery] = useSearchParams();
  const window = WINDOWS.find((each) => each === query.get('window')) ?? '1h';
  const asked = useOverview(window);
  return (
    <>
      <header class="page-head">
        <h1>{adminTexts.overview}</h1>
        <Tabs
          label={adminTexts.window}
          value={window}
          options={WINDOWS.map((each) => [each, chartTexts.windows[each]])}
          onChange={(chosen) => {
            setQuery({ window: chosen }, { replace: true });
          }}
        />
      </header>
      <Loaded of={asked}>
        {(overview) => (
          <>
            <Findings overview={overview} />
            <Tiles overview={overview} />
            <div class="charts overview-charts">
              <CountChart buckets={overview.buckets} />
              <LatencyChart
                title={adminTexts.charts.arrival}
                highName="p99"
                longest={LONGEST_MS.arrival}
                buckets={overview.buckets.map(({ at, p50Ms, p99Ms }) => ({ at, p50: p50Ms, high: p99Ms }))}
              />
            </div>
            <Holders workspaces={overview.workspaces} />
            <Processes processes={overview.processes} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Findings({ overview: { findings, now } }: { readonly overview: Schemas['Overview'] }) {
  const { paused, nothingWrong, levels, whereTo, findings: title } = adminTexts;
  if (findings.length === 0 && !now.isPaused) {
    return (
      <div class="summary summary-good">
        <p>{nothingWrong}</p>
      </div>
    );
  }
  return (
    <ul class="finding-list" aria-label={title}>
      {now.isPaused && (
        <li class="summary summary-wait">
          <p>
            <Sentence text={paused} />
          </p>
        </li>
      )}
      {findings.map(({ level, code, text, whatToDo }) => (
        <li class={level === 'error' ? 'summary summary-bad' : 'summary summary-wait'}>
          <p>
            <Badge tone={level === 'error' ? 'bad' : 'wait'}>{levels[level]}</Badge> <Sentence text={text} />;{' '}
            <strong>
              <Sentence text={whereTo[code] ?? whatToDo} />
            </strong>
          </p>
        </li>
      ))}
    </ul>
  );
}

function Holders({ workspaces }: { readonly workspaces: Schemas['Overview']['workspaces'] }) {
  const { holders: title, holderHeadings: headings, noHolder } = adminTexts;
  return (
    <section aria-labelledby="holders">
      <h2 id="holders">{title}</h2>
      {workspaces.length === 0 ? (
        <p class="quiet">{noHolder}</p>
      ) : (
        <table class="rows" aria-label={title}>
          <thead>
            <tr>
              <th scope="col">{headings.workspace}</th>
              <th scope="col">{headings.pending}</th>
              <th scope="col">{headings.bytes}</th>
            </tr>
          </thead>
          <tbody>
            {workspaces.map(({ workspaceId, pending, bytes }) => (
              <tr key={workspaceId}>
                <td>
                  <code>{workspaceId}</code>
                </td>
                <td>{pending}</td>
                <td>{byteText(bytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Processes({ processes }: { readonly processes: Schemas['Overview']['processes'] }) {
  const { processes: title, processHeadings: headings, noProcess } = adminTexts;
  return (
    <section aria-labelledby="processes">
      <h2 id="processes">{title}</h2>
      {processes.length === 0 ? (
        <p class="quiet">{noProcess}</p>
      ) : (
        <table class="rows processes" aria-label={title}>
          <thead>
            <tr>
              <th scope="col">{headings.role}</th>
              <th scope="col">{headings.id}</th>
              <th scope="col">{headings.seen}</th>
            </tr>
          </thead>
          <tbody>
            {processes.map(({ role, id, lastSeenAt }) => (
              <tr key={id}>
                <td>{role}</td>
                <td>
                  <code>{id}</code>
                </td>
                <td>
                  <Time at={lastSeenAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
