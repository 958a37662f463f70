import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

/** An object of Kubernetes, as far as it is looked at. */
export interface KubernetesObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly [field: string]: unknown;
}

/** The oldest Kubernetes that Chart.yaml accepts. */
export const OLDEST_KUBERNETES = '1.27';

export const hasHelm = isThere('helm', 'version');
export const hasValidator = isThere('kubernetes-validate', '--version');

function isThere(program: string, argument: string): boolean {
  return spawnSync(program, [argument]).status === 0;
}

export function runHelm(...args: string[]) {
  const { status, stdout, stderr } = spawnSync('helm', args, { encoding: 'utf8' });
  return { status, output: stdout + stderr, stdout };
}

/** What `helm template` makes of the example. `options` are Helm's own. */
export function renderChart(file: string, ...options: string[]) {
  const common = ['--namespace', 'herald', '--kube-version', OLDEST_KUBERNETES];
  const { status, output, stdout } = runHelm('template', 'herald', CHART, ...common, '--values', file, ...options);
  if (status !== 0) throw new Error(output);
  const objects = parseAllDocuments(stdout).map((document) => {
    if (document.errors[0]) throw document.errors[0];
    return document.toJS() as KubernetesObject;
  });
  return objects;
}

/** Checks objects against the schemas of a release of Kubernetes; no field may be unknown. */
export function validateObjects(objects: readonly KubernetesObject[], kubernetes: string) {
  const input = objects.map((each) => JSON.stringify(each)).join('\n---\n');
  const args = ['--strict', '--kubernetes-version', kubernetes, '-'];
  const { status, stdout, stderr } = spawnSync('kubernetes-validate', args, { input, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

export const CHART = join(import.meta.dirname, '../../ops/helm/herald');
/** Values as YAML and JSON have them. */
export type Values = Readonly<Record<string, unknown>>;

export const readChartFile = (name: string) => readFileSync(join(CHART, name), 'utf8');
export const DEFAULTS = parse(readChartFile('values.yaml')) as Values;

/** The examples of ci/, one for each kind of Redis. */
export const SET_UPS = globSync('ci/*-values.yaml', { cwd: CHART })
  .sort()
  .map((file) => ({ name: basename(file, '-values.yaml'), file: join(CHART, file), values: readValues(file) }));

/** An example over the defaults, as Helm lays one over the other: maps join, all else replaces. */
function readValues(file: string): Values {
  return over(DEFAULTS, parse(readChartFile(file)) as Values);
}

function over(below: Values, above: Values): Values {
  const joined = Object.entries(above).map(([name, value]) => {
    const under = below[name];
    return [name, isMap(under) && isMap(value) ? over(under, value) : value] as const;
  });
  return { ...below, ...Object.fromEntries(joined) };
}

function isMap(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
