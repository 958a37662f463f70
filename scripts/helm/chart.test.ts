import { VARIABLES } from '@herald/config/variables';
import { IPV4_SPECIAL_PURPOSE, IPV6_SPECIAL_PURPOSE, REFUSED_BESIDES } from '@herald/egress/address-policy';
import { Ajv } from 'ajv';
import { readFileSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { join } from 'node:path';
import { DEFAULTS, readChartFile, SET_UPS, type Values } from './render-chart.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

/** The parts of a JSON schema that are looked at here. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}
const schema = JSON.parse(readChartFile('values.schema.json')) as Schema;
const validate = new Ajv({ strict: true, strictTypes: false, allErrors: true }).compile(schema);
const problemsOf = (values: Values) => {
  validate(values);
  return (validate.errors ?? []).map(({ instancePath, message, params }) => ({ instancePath, message, ...params }));
};

test('there is an example for each kind of Redis, and it holds against the schema as the defaults do', () => {
  expect(SET_UPS.map(({ values }) => (values.redis as Values).kind)).toEqual(['cluster', 'server', 'sentinels']);
  for (const values of [DEFAULTS, ...SET_UPS.map((each) => each.values)]) expect(problemsOf(values)).toEqual([]);
});

test('values.yaml shows every value that the schema knows', () => {
  const namesOf = (part: Schema, values: unknown, path: string): string[] =>
    Object.entries(part.properties ?? {}).flatMap(([name, below]) => {
      const value = (values as Values)[name];
      return value === undefined ? [`${path}${name}`] : namesOf(below, value, `${path}${name}.`);
    });
  expect(namesOf(schema, DEFAULTS, '')).toEqual(['global']);
});

test.each<[string, Values, string]>([
  ['a misspelled value', { replica: 3 }, ''],
  ['a misspelled variable', { env: { RETENTON: '3d' } }, '/env'],
  ['a variable of the worker for the API', { api: { env: { CONCURRENCY: '9' } } }, '/api/env'],
  ['a variable that another value sets', { env: { SHARDS: '4' } }, '/env'],
  ['a secret as a value', { env: { SECRETS_KEY: 'x' } }, '/env'],
  ['a secret beside its reference', { operators: { password: 'x' } }, '/operators'],
  ['a number as a variable', { env: { RETENTION: 3 } }, '/env/RETENTION'],
  ['an unknown kind of Redis', { redis: { kind: 'replicas' } }, '/redis/kind'],
  ['more shards than there are', { shards: 65 }, '/shards'],
  ['a resolver by its name', { worker: { dnsServers: ['dns.example.com'] } }, '/worker/dnsServers/0'],
])('%s is refused, and named', (_what, values, place) => {
  expect(problemsOf(values).map(({ instancePath }) => instancePath)).toEqual([place]);
});

/** The variables to which templates give values, whatever `env` has. */
const setByTemplates = new Set(
  [...readChartFile('templates/_environment.tpl').matchAll(/(?:- name: |")([A-Z][A-Z_]+)\b/g)].map(
    ([, name = '']) => name,
  ),
);

test('templates set no variable that no process reads', () => {
  expect(setByTemplates.size).toBeGreaterThan(20);
  const known = new Set([...VARIABLES.api, ...VARIABLES.worker]);
  expect([...setByTemplates].filter((name) => !known.has(name))).toEqual([]);
});

test.each(['api', 'worker'] as const)('each variable of the %s has a value of its own, or can stand in env', (name) => {
  const takes = (variable: string) => problemsOf({ [name]: { env: { [variable]: 'x' } } }).length === 0;
  expect(VARIABLES[name].filter((each) => !setByTemplates.has(each) && !takes(each))).toEqual([]);
  expect(VARIABLES[name].filter((each) => setByTemplates.has(each) && takes(each))).toEqual([]);
});

test('env of all takes what api and worker both take', () => {
  const takes = (values: Values) => problemsOf(values).length === 0;
  const inBoth = VARIABLES.api.filter(
    (each) => VARIABLES.worker.includes(each) && takes({ api: { env: { [each]: 'x' } } }),
  );
  expect(inBoth.length).toBeGreaterThan(3);
  expect(inBoth.filter((each) => !takes({ env: { [each]: 'x' } }))).toEqual([]);
});

test('pods listen at the ports of the image', () => {
  const exposed = /^EXPOSE (.+)$/m.exec(read('Dockerfile'))?.[1]?.split(' ');
  const portOf = (variable: string) =>
    new RegExp(`name: ${variable}\\n *value: "(\\d+)"`).exec(readChartFile('templates/_environment.tpl'))?.[1];
  expect([portOf('PORT'), portOf('WORKER_PORT'), portOf('OPERATOR_PORT')]).toEqual(exposed);
  const ports = ['api', 'worker'].flatMap((each) =>
    [...readChartFile(`templates/${each}-deployment.yaml`).matchAll(/containerPort: (\d+)/g)].map(([, port]) => port),
  );
  expect(ports.sort()).toEqual(exposed);
});

test('the Ingress leads to the port of customers alone', () => {
  const backends = [...readChartFile('templates/ingress.yaml').matchAll(/backend: .*/g)].map(([text]) => text);
  expect(backends).toEqual([expect.stringContaining('-api, port: { name: http }')]);
  expect(readChartFile('templates/services.yaml')).toMatch(/-api\n[^]*?targetPort: http \}\][^]*-operators\n/);
});

test('the alerts are those of ops/prometheus (cp ops/prometheus/alerts.yml ops/helm/herald/files/)', () => {
  expect(readChartFile('files/alerts.yml')).toBe(read('ops/prometheus/alerts.yml'));
});

test('workers are fenced off from every range that they refuse by themselves', () => {
  const refused = [
    ...[...IPV4_SPECIAL_PURPOSE, ...IPV6_SPECIAL_PURPOSE]
      .filter(([, , , globallyReachable]) => globallyReachable !== true)
      .map(([prefix]) => prefix),
    ...REFUSED_BESIDES,
    // Of IPv6, only 2000::/3 is open at all.
  ].filter((prefix) => isIP(addressOf(prefix)) === 4 || isWithin(prefix, '2000::/3'));
  const widest = refused.filter((prefix) => !refused.some((other) => other !== prefix && isWithin(prefix, other)));
  const fenced = [...readChartFile('templates/_egress.tpl').matchAll(/^- ([0-9a-f.:]+\/\d+)$/gm)].map(
    ([, prefix = '']) => prefix,
  );
  expect([...fenced].sort()).toEqual([...new Set(widest)].sort());
});

test('the metric by which workers grow is one that they show, and the adapter’s rule in the guide brings it', () => {
  const metric = /name: (herald_\w+)/.exec(readChartFile('templates/autoscalers.yaml'))?.[1] ?? 'none';
  expect(read('packages/store/src/operators/exposition.ts')).toContain(`'${metric}'`);
  expect(read('docs/kubernetes.md')).toContain(`seriesQuery: '${metric}{namespace!="",service!=""}'`);
  expect(read('docs/kubernetes.md')).toContain(`as: ${metric}`);
});

function addressOf(prefix: string): string {
  return prefix.replace(/\/.*/, '');
}

function isWithin(prefix: string, other: string): boolean {
  const [network = '', length = ''] = other.split('/');
  const family = (address: string) => (isIP(address) === 4 ? 'ipv4' : 'ipv6');
  if (family(network) !== family(addressOf(prefix)) || Number(length) > Number(prefix.split('/')[1])) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(length), family(network));
  return list.check(addressOf(prefix), family(network));
}
