import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { scrape } from '../../support/metrics.ts';
import { basic, OPERATOR_ENV } from '../../support/operator-client.ts';
import { startHerald } from '../../support/start-herald.ts';

jest.setTimeout(60_000);

const REPOSITORY = new URL('../../../', import.meta.url);
const read = (path: string) => readFile(new URL(path, REPOSITORY), 'utf8');

/** As Prometheus renders it: the page that its external label names, or a path of the repository. */
const RUNBOOK_LINK =
  /^\{\{ with \$externalLabels\.runbook_url \}\}\{\{ \. \}\}\{\{ else \}\}docs\/runbook\.md\{\{ end \}\}#[a-z-]+$/;

interface Alert {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string; finding?: string };
}
interface AlertFile {
  groups: { name: string; rules: Alert[] }[];
}
interface Dashboard {
  panels: { title: string; targets: { expr: string }[] }[];
}

const readAlerts = async () =>
  (parse(await read('ops/prometheus/alerts.yml')) as AlertFile).groups.flatMap(({ rules }) => rules);
const readPanels = async () => (JSON.parse(await read('ops/grafana/herald.json')) as Dashboard).panels;

/** Names of metrics in an expression: ours, and those of the processes. A histogram's are known by its own name. */
function metricsIn(expr: string): string[] {
  const names = expr.match(/\b(?:herald|nodejs|process)_\w+/g) ?? [];
  return names.map((name) => name.replace(/(_seconds)_(?:bucket|count|sum)$/, '$1'));
}

/** The metrics in the tables of docs/metrics.md. */
async function readDocumentedMetrics() {
  const [, ...sections] = (await read('docs/metrics.md')).split(/^## /m);
  const [both = [], apis = [], workers = []] = sections.map((section) =>
    [...section.matchAll(/^\| `(herald_\w+)`/gm)].map(([, name = '']) => name),
  );
  return { both, apis, workers };
}

/** As GitHub makes anchors of headings. */
function anchorsIn(markdown: string): Set<string> {
  const headings = [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((text) =>
      text
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    ),
  );
}

test('docs/metrics.md has every metric of the processes, and they show all that the alerts and the dashboard name', async () => {
  // Nothing is sent. Only a worker with a proxy and a history has metrics of them.
  const env = { ...OPERATOR_ENV, EGRESS_PROXY_URL: 'http://127.0.0.1:9', HISTORY_URL: 'postgres://127.0.0.1:9/herald' };
  await using herald = await startHerald({ env });
  const api = await scrape(
    herald.apis[0]?.origin ?? '',
    basic(OPERATOR_ENV.OPERATOR_USER, OPERATOR_ENV.OPERATOR_PASSWORD),
  );
  const worker = await scrape(herald.workers[0]?.origin ?? '');
  const exposed = await (await fetch(`${herald.workers[0]?.origin ?? ''}/metrics`)).text();
  expect(exposed).toMatch(
    /^herald_build_info\{process="worker",version="\d+\.\d+\.\d+(-dev)?",commit="[\da-f]{12}(-changed)?"\} 1$/m,
  );
  const ofHerald = (names: ReadonlySet<string>) => [...names].filter((name) => name.startsWith('herald_')).sort();
  const { both, apis, workers } = await readDocumentedMetrics();
  expect(ofHerald(api.names)).toEqual([...both, ...apis].sort());
  expect(ofHerald(worker.names)).toEqual([...both, ...workers].sort());
  const shown = new Set([...api.names, ...worker.names]);
  const alerts = (await readAlerts()).map(({ expr }) => expr);
  const panels = (await readPanels()).flatMap(({ targets }) => targets.map(({ expr }) => expr));
  expect(alerts.length).toBeGreaterThan(7);
  expect(panels.length).toBeGreaterThan(20);
  const named = [...alerts, ...panels].map((expr) => ({ expr, metrics: metricsIn(expr) }));
  expect(named.filter(({ metrics }) => metrics.length === 0)).toEqual([]);
  expect(named.filter(({ metrics }) => metrics.some((name) => !shown.has(name)))).toEqual([]);
});

test('every alert waits before it rings, says how urgent it is and what happens, and who reads it finds more', async () => {
  for (const { annotations, ...alert } of await readAlerts()) {
    const { finding = 'none', ...others } = annotations;
    expect(finding).toMatch(/^([a-z_]+(, [a-z_]+)*|\{\{ \$labels\.code \}\})$/);
    expect({ ...alert, annotations: others }).toEqual({
      alert: expect.stringMatching(/^Herald[A-Za-z]+$/) as string,
      expr: expect.any(String) as string,
      for: expect.stringMatching(/^\d+[smh]$/) as string,
      labels: { severity: expect.stringMatching(/^(page|warn)$/) as string },
      annotations: {
        summary: expect.stringMatching(/.{20}/) as string,
        runbook: expect.stringMatching(RUNBOOK_LINK) as string,
      },
    });
  }
});

test('every alert leads to a section of the runbook', async () => {
  const anchors = anchorsIn(await read('docs/runbook.md'));
  const missing = (await readAlerts()).filter(
    ({ annotations }) => !anchors.has(annotations.runbook.split('#')[1] ?? ''),
  );
  expect(missing).toEqual([]);
});
