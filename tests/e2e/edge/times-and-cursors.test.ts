import { document } from '../../support/openapi-document.ts';
import { basic, OPERATOR_ENV } from '../../support/operator-client.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import type { WorkspaceClient } from '../../support/workspace-client.ts';

let herald: Herald;
let workspace: WorkspaceClient;
let ids: Readonly<Record<string, string>>;

beforeAll(async () => {
  herald = await startHerald({ env: OPERATOR_ENV });
  workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver([200]);
  const { id } = await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  await workspace.closeTask(task.id);
  await herald.settled();
  ids = { '/tasks/{id}': task.id, '/api/public/webhooks/{id}': id };
});
afterAll(() => herald[Symbol.asyncDispose]());

/** Each parameter of an operation that is a time or a place in a list. */
const PARAMETERS = Object.entries(document.paths).flatMap(([path, { get }]) =>
  (get?.parameters ?? []).flatMap((parameter) => {
    const name = 'name' in parameter ? parameter.name : '';
    if (!/^(since|until)$|cursor$/i.test(name)) return [];
    return [{ operation: get?.operationId ?? '', path, name, isTime: !/cursor$/i.test(name) }];
  }),
);

async function ask(path: string, name: string, value: string): Promise<number> {
  const ofThing = Object.keys(ids).find((prefix) => path.startsWith(prefix));
  const filled = ofThing === undefined ? path : path.replace(ofThing, ofThing.replace('{id}', ids[ofThing] ?? ''));
  const status = path === '/api/internal/tasks' ? 'status=done&' : '';
  const options = path.startsWith('/api/operator')
    ? { headers: basic(OPERATOR_ENV.OPERATOR_USER, OPERATOR_ENV.OPERATOR_PASSWORD) }
    : { key: path.startsWith('/api/internal') ? herald.executor.key : workspace.key };
  return (await herald.request('GET', `${filled}?${status}${name}=${encodeURIComponent(value)}`, options)).status;
}

const TIMES = [
  ...['0000-01-01T00:00:00Z', '0000-01-01T00:00:00+23:59', '0001-02-03T04:05:06.789Z'],
  ...['1969-12-31T23:59:59Z', '1970-01-01T00:00:00Z', '1970-01-01T00:00:00.001Z', '2001-09-09T01:46:39Z'],
  ...['2286-11-20T17:46:40Z', '9999-12-31T23:59:59.999999999Z', '9999-12-31T23:59:59-23:59'],
];

const CURSORS = [
  ...['', ':', '0', '0:', '0:x', '50:', '-1:', '1.5:', '1e3:', 'NaN:', '01:dlv_'],
  ...['999999999999999:', `999999999999999:${'z'.repeat(64)}`, `000000000000000:dlv_${'a'.repeat(32)}`],
  ...[`1893456000000:dlv_${'2'.repeat(32)}`, '1893456000000:task_00000000000000000000000000', '1893456000000:wh_'],
  ...['0-0', '-', '+', '$', '(', '\0', '\n', '\u{1f642}', '1893456000000-123456789012345\n'],
  ...['0000000000000-000000000000000', '0000000000000-000000000000001', '0000000000001-000000000000000'],
  ...['1000000000000-100000000000000', '9999999999999-999999999999999', '1893456000000-123456789012345'],
].map((text) => Buffer.from(text).toString('base64url'));
const TEXTS = ['\0', '=', '*', '%', '\u{1f642}', 'x'.repeat(256)];

test('the document has lists with times and lists with cursors', () => {
  const operations = (isTime: boolean) =>
    new Set(PARAMETERS.filter((each) => each.isTime === isTime).map(({ operation }) => operation)).size;
  expect([operations(true), operations(false)]).toEqual([4, 7]);
});

test.each(PARAMETERS.filter(({ isTime }) => isTime))('$operation takes any RFC 3339 time as $name', async (each) => {
  const statuses = await Promise.all(TIMES.map((time) => ask(each.path, each.name, time)));
  expect(TIMES.filter((_time, index) => statuses[index] !== 200)).toEqual([]);
});

test.each(PARAMETERS.filter(({ isTime }) => !isTime))(
  '$operation reads or refuses whatever comes as $name',
  async ({ path, name }) => {
    const values = [...CURSORS, ...TEXTS];
    const statuses = await Promise.all(values.map((value) => ask(path, name, value)));
    expect(values.filter((_value, index) => ![200, 422].includes(statuses[index] ?? 0))).toEqual([]);
  },
);

test.each([
  ['the audit list', '/api/operator/audit', '0000000000000-000000000000000'],
  ['the audit list', '/api/operator/audit', '0000000000001-000000000000000'],
  ['the audit list', '/api/operator/audit', '1893456000000-000000000000001'],
])('%s (%s) refuses a cursor of %s', async (_list, path, text) => {
  expect(await ask(path, 'cursor', Buffer.from(text).toString('base64url'))).toBe(422);
});
