import { sendRequest } from './http-request.ts';

type Labels = Readonly<Record<string, string>>;

/** What a process showed at one scrape. */
export interface Scrape {
  /** Of every metric, also of those that have no value yet; histograms by their own name. */
  readonly names: ReadonlySet<string>;
  /** The sum of all series of a name that have these labels; a label may be told by a pattern. */
  sum(name: string, labels?: Readonly<Record<string, string | RegExp>>): number;
}

export async function scrape(origin: string, headers: Labels = {}): Promise<Scrape> {
  const { status, text } = await sendRequest(origin, 'GET', '/metrics', { headers });
  if (status !== 200) throw new Error(`a scrape of ${origin} was answered with ${status}: ${text.slice(0, 200)}`);
  return readExposition(text);
}

/** Reads Prometheus' text format. */
export function readExposition(text: string): Scrape {
  const lines = text.split('\n');
  const names = new Set(lines.flatMap((line) => /^# TYPE (\S+) /.exec(line)?.[1] ?? []));
  const series = lines.flatMap((line) => {
    const [, name, labels = '', value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, labels: readLabels(labels), value: Number(value) }];
  });
  return {
    names,
    sum: (name, labels = {}) =>
      series
        .filter((each) => each.name === name)
        .filter((each) => Object.entries(labels).every(([label, wanted]) => matches(each.labels[label] ?? '', wanted)))
        .reduce((sum, { value }) => sum + value, 0),
  };
}

function readLabels(text: string): Labels {
  return Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]));
}

function matches(value: string, wanted: string | RegExp): boolean {
  return typeof wanted === 'string' ? value === wanted : wanted.test(value);
}
