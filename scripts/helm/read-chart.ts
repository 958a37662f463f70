import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';

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
