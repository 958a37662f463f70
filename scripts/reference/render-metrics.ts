import { addCertificateGauge } from '@herald/runtime/metrics';
import { addClockGauge, addFindingGauge, addServiceGauges } from '@herald/store/operators/exposition';
import { createApiMetrics } from '../../apps/api/src/metrics.ts';
import { createHistoryMetrics } from '../../apps/worker/src/history.ts';
import { createEgressMetrics, createProxyMetrics } from '../../apps/worker/src/egress.ts';
import { createWorkerMetrics } from '../../apps/worker/src/metrics.ts';
import { renderTable } from './render-table.ts';

type Registry = ReturnType<typeof createApiMetrics>['registry'];

/** What the types of the library leave out of a metric. */
type Labelled = { readonly labelNames: readonly string[] };

/** `docs/metrics.md`, before its lines are wrapped. */
export function renderMetrics(): string {
  const [api, worker] = [fill(createApiMetrics().registry), fillWorker()];
  const shared = [...api.keys()].filter((name) => worker.has(name));
  const only = (some: ReadonlyMap<string, string[]>) => [...some].filter(([name]) => !shared.includes(name));
  const table = (rows: (readonly [string, string[]])[]) =>
    renderTable(
      ['metric', 'type', 'labels', 'what it shows'],
      rows.map(([, row]) => row),
    );
  return `# Metrics

The worker serves \`/metrics\` at \`WORKER_PORT\`. The API serves it at \`OPERATOR_PORT\`, or without that at \`PORT\`: to
whoever has \`METRICS_TOKEN\`, and to operators (\`OPERATOR_USER\`, \`OPERATOR_PASSWORD\`). The [runbook](runbook.md#metrics-and-alerts) has the configuration of Prometheus, the alerts, and what
the gauges of the queue count.

Counters and histograms belong to one process: sum them. Gauges "of the whole service" are the same in every process:
use \`max\` and never \`sum\`. Over shards, use the sum of the max.

## Both processes

${table([...api].filter(([name]) => shared.includes(name)))}

## The API

${table(only(api))}

## Workers

${table(only(worker))}

\`herald_egress_proxy_…\` exist only in a worker with \`EGRESS_PROXY_URL\`, \`herald_history_…\` only with \`HISTORY_URL\`. Both processes also show the metrics \`process_…\` and
\`nodejs_…\` of their Node: memory, CPU time, event loop, garbage collection. The event loop is looked at every 200 ms, so its lag is 0.2 s at rest.

\`npm run docs:reference\` makes this page from the metrics that the processes create.
`;
}

/** Adds what a process adds while it starts, and describes all that is there by name. */
function fill(registry: Registry): Map<string, string[]> {
  addServiceGauges(registry);
  addClockGauge(registry, () => 0);
  addCertificateGauge(registry, {});
  addFindingGauge(registry, () => Promise.resolve({ problems: [], warnings: [] }));
  const metrics = registry.getMetricsAsArray() as (ReturnType<Registry['getMetricsAsArray']>[number] & Labelled)[];
  return new Map(
    metrics
      .filter(({ name }) => name.startsWith('herald_'))
      .map(({ name, type, labelNames, help }) => [
        name,
        [`\`${name}\``, type, labelNames.map((label) => `\`${label}\``).join(', '), help],
      ]),
  );
}

function fillWorker(): Map<string, string[]> {
  const { registry } = createWorkerMetrics();
  createEgressMetrics(registry).watch(() => true);
  createProxyMetrics(registry).watch(() => true);
  createHistoryMetrics(registry, 0).watch(
    () => true,
    () => 0,
  );
  return fill(registry);
}
