import { createHistoryEraser } from '@herald/history/writing/create-history-eraser';
import { findRefusal, judgeHistoryError } from '@herald/history/errors/history-errors';
import { createPartitions, dayOf, DAY_MS, partitionName } from '@herald/history/partitions/partitions';
import { createHistoryPool } from '@herald/history/pool/create-history-pool';
import { createHistoryReader } from '@herald/history/reading/create-history-reader';
import { prepareHistory } from '@herald/history/requirements/prepare-history';
import {
  createCertificateAuthority,
  findExecutable,
  freePort,
  startPostgres,
  startProcess,
  waitFor,
  type PostgresOptions,
} from '@herald/test-kit';
import { chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const cleanUp = new AsyncDisposableStack();
afterAll(() => cleanUp.disposeAsync());

const NOBODY = 65_534;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'herald-connecting-'));
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }));
  if (process.getuid?.() === 0) await chown(folder, NOBODY, NOBODY);
});
/** A file that PostgreSQL may read, and nobody else. */
async function write(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text, { mode: 0o600 });
  if (process.getuid?.() === 0) await chown(path, NOBODY, NOBODY);
  return path;
}
const start = async (options?: PostgresOptions) => cleanUp.use(await startPostgres(options));
function open(url: string, connections = 2) {
  const limits = { statementLimitMs: 5_000, connectLimitMs: 2_000 };
  const pool = createHistoryPool({ url, name: 't', connections, ...limits, onError: () => undefined });
  cleanUp.defer(() => pool.end());
  return pool;
}
/** The port of the server that serves it. */
const portOf = async (url: string) => {
  const { rows } = await open(url).query<{ port: number }>('SELECT inet_server_port() AS port');
  return rows[0]?.port;
};

test('of several hosts the first serves that is there and as it is wanted; a standby is named where it takes no writes', async () => {
  const [standby, primary, gone] = await Promise.all([
    start({ isStandby: true, settings: { max_connections: '100' } }),
    start(),
    freePort(),
  ]);
  const hosts = [gone, standby.port, primary.port].map((port) => `127.0.0.1:${port}`);
  const url = (attrs = '') =>
    `postgres://postgres@${hosts.join(',')}/postgres${attrs && `?target_session_attrs=${attrs}`}`;
  await expect(portOf(url())).resolves.toBe(standby.port);
  for (const attrs of ['any', 'read-only', 'standby', 'prefer-standby']) {
    await expect(portOf(url(attrs))).resolves.toBe(standby.port);
  }
  for (const attrs of ['read-write', 'primary']) await expect(portOf(url(attrs))).resolves.toBe(primary.port);
  const alone = `postgres://postgres@127.0.0.1:${gone},127.0.0.1:${primary.port}/postgres`;
  await expect(portOf(`${alone}?target_session_attrs=prefer-standby`)).resolves.toBe(primary.port);
  await expect(portOf(`${alone}?target_session_attrs=standby`)).rejects.toThrow(
    `no host of HISTORY_URL will do: 127.0.0.1:${gone}: connect ECONNREFUSED 127.0.0.1:${gone}; 127.0.0.1:${primary.port}: it is a primary, and target_session_attrs asks for another`,
  );
  await expect(prepareHistory(open(url()), 'write')).rejects.toThrow(
    `HISTORY_URL leads to 127.0.0.1:${standby.port}, which is a standby and takes no writes; name the primary, or all servers with target_session_attrs=read-write`,
  );

  const pool = open(url('read-write'));
  await expect(prepareHistory(pool, 'write')).resolves.toMatchObject({ ran: expect.arrayContaining([]) as unknown });
  // What becomes read-only is left, and named.
  await pool.query('ALTER SYSTEM SET default_transaction_read_only = on');
  await pool.query('SELECT pg_reload_conf()');
  await waitFor('it to take no writes', () =>
    pool.query('UPDATE herald.installation SET is_only = is_only').then(
      () => false,
      () => true,
    ),
  );
  await expect(prepareHistory(open(primary.url), 'write')).rejects.toThrow(
    `HISTORY_URL leads to 127.0.0.1:${primary.port}, which takes no writes, as its default_transaction_read_only says`,
  );
  await expect(pool.query('SELECT')).rejects.toThrow('it is a primary that takes no writes');
});

test('a password that changes in its file counts for the next connection, without a restart', async () => {
  const hba = await write('hba', 'host all admin 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n');
  const postgres = await start();
  const root = open(postgres.url);
  await root.query('CREATE ROLE admin LOGIN SUPERUSER; CREATE ROLE "her:ald" LOGIN PASSWORD \'first\'');
  await root.query(`ALTER SYSTEM SET hba_file = '${hba}'`);
  await postgres.restart();
  const admin = open(postgres.url.replace('postgres@', 'admin@'));
  const line = (password: string) => `# a comment\n127.0.0.1:1:*:*:other\n127.0.0.1:*:postgres:her\\:ald:${password}\n`;
  const passfile = await write('passfile', line('first'));
  const pool = open(`postgres://her%3Aald@127.0.0.1:${postgres.port}/postgres?passfile=${passfile}`, 1);
  const ask = () => pool.query('SELECT 1');
  await ask();
  await admin.query('ALTER ROLE "her:ald" PASSWORD \'se:cond\\\'');
  // The connection that is open stays.
  await ask();
  await expect(pool.query('SELECT pg_terminate_backend(pg_backend_pid())')).rejects.toThrow();
  await expect(ask().catch((error: unknown) => Promise.reject(findRefusal(error) as Error))).rejects.toThrow(
    'HISTORY_URL has a wrong user or password',
  );
  await write('passfile', line('se\\:cond\\\\'));
  await ask();
  await expect(pool.query('SELECT pg_terminate_backend(pg_backend_pid())')).rejects.toThrow();
  await write('passfile', 'db.example.com:*:*:*:canary\n');
  await expect(ask()).rejects.toThrow(
    `the file ${passfile} of HISTORY_URL has no line for 127.0.0.1:${postgres.port}:postgres:her:ald`,
  );
});

test('TLS is as the url says: name and issuer are checked unless it says otherwise, and a refusal is told', async () => {
  const [ca, other] = await Promise.all([createCertificateAuthority(), createCertificateAuthority()]);
  const { certPem, keyPem } = await ca.issueCertificate({ hosts: ['127.0.0.1'] });
  const [cert, key, root, foreign] = await Promise.all([
    write('server.crt', certPem),
    write('server.key', keyPem),
    write('ca.crt', ca.certPem),
    write('other.crt', other.certPem),
  ]);
  const [plain, tls] = await Promise.all([
    start(),
    start({ settings: { ssl: 'on', ssl_cert_file: cert, ssl_key_file: key } }),
  ]);
  const isEncrypted = async (parameters: string, host = '127.0.0.1', { port } = tls) => {
    const pool = open(`postgres://postgres@${host}:${port}/postgres?${parameters}`);
    const { rows } = await pool.query<{ ssl: boolean }>('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    return rows[0]?.ssl;
  };
  const warnings: string[] = [];
  const listen = ({ message }: Error) => warnings.push(message);
  process.on('warning', listen);
  for (const sslmode of ['prefer', 'require', 'verify-ca', 'verify-full']) {
    await expect(isEncrypted(`sslmode=${sslmode}&sslrootcert=${root}`)).resolves.toBe(true);
    for (const [parameters, host] of [
      [`sslrootcert=${foreign}`],
      [''],
      [`sslrootcert=${root}`, 'localhost'],
    ] as const) {
      const refused = await isEncrypted(`sslmode=${sslmode}&${parameters}`, host).catch((error: unknown) => error);
      expect(judgeHistoryError(refused)).toBe('set-up');
      expect(findRefusal(refused)?.message).toMatch(
        /^the certificate of the server is none that HISTORY_URL trusts; name its CA/,
      );
    }
  }
  process.off('warning', listen);
  expect(warnings).toEqual([]);
  const byIssuer = `sslmode=verify-ca&uselibpqcompat=true&sslrootcert=${root}`;
  await expect(isEncrypted(byIssuer, 'localhost')).resolves.toBe(true);
  await expect(isEncrypted('sslmode=no-verify', 'localhost')).resolves.toBe(true);
  await expect(isEncrypted('')).resolves.toBe(false);
  const without = await isEncrypted(`sslmode=verify-full&sslrootcert=${root}`, '127.0.0.1', plain).catch(
    (error: unknown) => error,
  );
  expect(findRefusal(without)?.message).toMatch(/^HISTORY_URL asks for TLS; turn it on in PostgreSQL/);
});

test('the roles of ops/postgres/roles.sql have all rights that Herald needs, and no others', async () => {
  const postgres = await start();
  const sql = await readFile('ops/postgres/roles.sql', 'utf8');
  const root = open(postgres.url);
  await root.query('CREATE ROLE keeper LOGIN CREATEROLE');
  await root.query('CREATE DATABASE kept OWNER keeper');
  const as = (user: string) => open(`postgres://${user}@127.0.0.1:${postgres.port}/kept`, 3);
  await as('postgres').query('REVOKE ALL ON DATABASE kept FROM PUBLIC');
  const keeper = as('keeper');
  await keeper.query(sql);
  const [worker, api] = [as('herald_worker'), as('herald_api')];
  await prepareHistory(worker, 'write', { dataId: 'data' });
  await keeper.query(sql);
  await expect(prepareHistory(api, 'read', { dataId: 'data' })).resolves.toMatchObject({ ran: [] });
  await expect(prepareHistory(api, 'write', { dataId: 'data' })).rejects.toThrow('may not write the schema herald');

  // Days are made, indexed and dropped, and erased while they are dropped.
  const partitions = createPartitions(worker);
  const today = dayOf(Date.now());
  await partitions.ensureAhead(Date.now());
  await partitions.ensure([today - 9]);
  await partitions.indexDays();
  const deps = { pool: api, limitMs: 5_000, onUnavailable: (error: Error) => void errors.push(error.message) };
  const errors: string[] = [];
  await createHistoryReader(deps).list({ workspaceId: 'ws_a', limit: 1 });
  await worker.query(`ALTER TABLE herald.deliveries DETACH PARTITION herald.${partitionName('deliveries', today - 9)}`);
  await createHistoryEraser(deps).eraseTask('ws_a', 'task_a', Date.now());
  expect(errors).toEqual([]);
  await expect(partitions.dropBefore(Date.now() - DAY_MS)).resolves.toMatchObject({
    failures: [],
    dropped: { length: 2 },
  });
  await expect(partitions.agreeOnRetention(90 * DAY_MS, Date.now())).resolves.toBe(90 * DAY_MS);

  for (const statement of [
    'UPDATE herald.installation SET data_id = data_id',
    'UPDATE herald.audit SET id = id',
    "INSERT INTO herald.audit (id, by, entry) VALUES ('a', 'b', '{}')",
    'DELETE FROM herald.deliveries',
    'DELETE FROM herald.migrations',
    'INSERT INTO herald.transitions (created_at, id) VALUES (0, $$a$$)',
    'CREATE TABLE herald.mine (id integer)',
    'CREATE SCHEMA mine',
  ]) {
    await expect(api.query(statement)).rejects.toThrow('permission denied');
  }
  for (const statement of ['CREATE SCHEMA mine', 'CREATE TABLE public.mine (id integer)', 'CREATE ROLE mine']) {
    await expect(worker.query(statement)).rejects.toThrow('permission denied');
  }
});

const POOLER_CONNECTIONS = 8;
const pgbouncer = findExecutable('pgbouncer', `${process.env.PATH ?? ''}:/usr/sbin`);

/** Limits that a session has set, in any connection of the pooler: as many transactions as it has take one each. */
async function settingsLeftBehind(url: string): Promise<object[]> {
  const pool = open(url, POOLER_CONNECTIONS);
  const clients = await Promise.all(Array.from({ length: POOLER_CONNECTIONS }, () => pool.connect()));
  await Promise.all(clients.map((client) => client.query('BEGIN')));
  const text = "SELECT name, setting FROM pg_settings WHERE source = 'session' AND name LIKE '%timeout'";
  const left = await Promise.all(clients.map((client) => client.query<object>(text)));
  for (const client of clients) client.release(true);
  return left.flatMap(({ rows }) => rows);
}

const describeWithPgBouncer = pgbouncer === undefined ? describe.skip : describe;
describeWithPgBouncer('PgBouncer', () => {
  test.each(['session', 'transaction'])('in the mode %s may stand in between', async (mode) => {
    const [postgres, port] = await Promise.all([start(), freePort()]);
    const ini = await write(
      `${mode}.ini`,
      `[databases]
* = host=127.0.0.1 port=${postgres.port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${POOLER_CONNECTIONS}
`,
    );
    const user = process.getuid?.() === 0 ? { uid: NOBODY } : {};
    const readyWhen = (line: string) => line.includes('process up');
    const launch = {
      name: 'pgbouncer',
      command: pgbouncer ?? '',
      args: [ini],
      readyWhen,
      cwd: folder,
      env: {},
      ...user,
    };
    let pooler = await startProcess(launch);
    const stopPooler = async () => {
      pooler.kill('SIGTERM'); // at once, whoever is connected
      await pooler.exited;
    };
    cleanUp.defer(stopPooler);
    const url = `postgres://postgres@127.0.0.1:${port}/postgres?target_session_attrs=read-write`;
    const [pool, other] = [open(url, 4), open(url, 4)];
    const ran = await Promise.all([pool, other].map((each) => prepareHistory(each, 'write', { dataId: 'data' })));
    expect(ran.filter((each) => each.ran.length > 0)).toHaveLength(1);
    const [first, second] = [createPartitions(pool), createPartitions(other)];
    const today = dayOf(Date.now());
    await Promise.all([first.ensure([today - 9, today]), second.ensure([today - 9, today])]);
    const errors: string[] = [];
    const deps = { limitMs: 5_000, onUnavailable: (error: Error) => void errors.push(error.message) };
    await Promise.all(
      [pool, other, pool, other].flatMap((each) => [
        createHistoryReader({ ...deps, pool: each }).list({
          workspaceId: 'ws_nobody',
          status: 'failed',
          limit: 3,
        }),
        createHistoryEraser({ ...deps, pool: each }).eraseTask('ws_a', 'task_a', Date.now()),
      ]),
    );
    expect(errors).toEqual([]);
    const reports = await Promise.all([first, second].map((each) => each.dropBefore(Date.now() - DAY_MS)));
    expect(reports.flatMap(({ failures }) => failures)).toEqual([]);
    expect(reports.flatMap(({ dropped }) => dropped)).toHaveLength(2);
    // Nothing of a transaction stays behind in the connections of the pooler.
    const { rows } = await open(postgres.url).query("SELECT FROM pg_locks WHERE locktype = 'advisory'");
    expect(rows).toEqual([]);
    // A connection of the pooler that had a setting of ours would have it for whoever shares it.
    expect(mode === 'transaction' ? await settingsLeftBehind(url) : []).toEqual([]);
    // The pooler restarts: whoever asks next gets another connection.
    await stopPooler();
    pooler = await startProcess(launch);
    await waitFor('a connection again', () => first.ensure([today + 1]).then(() => true));
    await expect(second.findOverdueMs(Date.now() - DAY_MS)).resolves.toBe(0);
  });
});
