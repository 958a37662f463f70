import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCertificateAuthority } from './certificate-authority.ts';
import { findRedisServer } from './find-programs.ts';
import { freePort, messageOf } from './free-port.ts';
import { type LaunchedProcess, launchProcess, type ProcessExit } from './start-process.ts';
import { waitFor } from './wait-for.ts';

export interface RedisOptions {
  /** The folder of its data. Default: a temporary one, removed at close. */
  dir?: string;
  /** Without it: a free one. */
  port?: number;
  /** Append-only file, synced every second: acknowledged writes survive a SIGKILL. Default false. */
  appendonly?: boolean;
  /** Further arguments, such as `['--maxmemory', '8mb']`. */
  args?: readonly string[];
  /** A file size limit makes its writes fail, as a full disk does, and doesn't end it. Default false. */
  outlivesFullDisk?: boolean;
  /** Returns while the server may still be loading its data. Default false. */
  mayBeLoading?: boolean;
  /** TLS and a password; default: neither. */
  security?: RedisSecurity | undefined;
}

export interface RunningRedis extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** The port for clients: with TLS another one than `port`. */
  readonly clientPort: number;
  readonly dir: string;
  readonly pid: number;
  /** The end of the server that runs now. */
  readonly exited: Promise<ProcessExit>;
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>;
  /** Stops it if it runs, and starts it again on the same port and folder. */
  restart(): Promise<void>;
  /** Stops it, and removes its folder unless that was given. May be called twice. */
  close(): Promise<void>;
}

const READY_DEADLINE_MS = 10_000;
const TRIES = 5;

/** Starts a real redis-server (or valkey-server) on a loopback port. It ends with this process, however that ends. */
export async function startRedis(options: RedisOptions = {}): Promise<RunningRedis> {
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'herald-redis-')));
  const removeDir = async () => {
    if (options.dir === undefined) await rm(dir, { recursive: true, force: true });
  };
  try {
    const { security } = options;
    const tlsPort = security && (await freePort());
    const args = security && tlsPort !== undefined ? toArguments(securitySettings(security, tlsPort)) : [];
    const secured = { ...options, args: [...args, ...(options.args ?? [])] };
    let { port, server } = await startServer(dir, secured);
    const close = async () => {
      await server.stop();
      await removeDir();
    };
    return {
      url: `redis://127.0.0.1:${port}`,
      port,
      clientPort: tlsPort ?? port,
      dir,
      get pid() {
        return server.pid;
      },
      get exited() {
        return server.exited;
      },
      async kill() {
        server.kill('SIGKILL');
        await server.exited;
      },
      async restart() {
        await server.stop();
        ({ port, server } = await startServer(dir, { ...secured, port }));
      },
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await removeDir();
    throw error;
  }
}

async function startServer(dir: string, options: RedisOptions): Promise<{ port: number; server: LaunchedProcess }> {
  const command = findRedisServer();
  if (command === undefined)
    throw new Error('neither redis-server nor valkey-server is on the PATH; install one of them');
  for (let tries = 1; ; tries++) {
    const port = options.port ?? (await freePort());
    const args = serverArguments(dir, port, options);
    const server = await launchProcess({
      name: 'redis',
      ...commandLine(command, args, options),
      cwd: dir,
      keptLines: 200,
    });
    try {
      await waitFor(
        `redis to answer on port ${port}`,
        async () => server.hasExited() || (await isAnswering(port, server.pid, options)),
        READY_DEADLINE_MS,
      );
      if (!server.hasExited()) return { port, server };
      throw new Error(`redis ended before it answered on port ${port}`);
    } catch (error) {
      server.kill('SIGKILL');
      await server.exited;
      const collided = options.port === undefined && /address already in use/i.test(server.output());
      if (collided && tries < TRIES) continue;
      const reason = messageOf(error);
      throw new Error(`${reason}\n${server.tail()}`, { cause: error });
    }
  }
}

function commandLine(command: string, args: string[], { outlivesFullDisk = false }: RedisOptions) {
  if (!outlivesFullDisk) return { command, args };
  // An ignored signal stays ignored in the process that replaces the shell.
  return { command: '/bin/sh', args: ['-c', 'trap "" XFSZ; exec "$0" "$@"', command, ...args] };
}

function serverArguments(dir: string, port: number, { appendonly = false, args = [] }: RedisOptions): string[] {
  const settings = {
    port: String(port),
    bind: '127.0.0.1',
    dir,
    save: '',
    appendonly: appendonly ? 'yes' : 'no',
    appendfsync: 'everysec',
    'maxmemory-policy': 'noeviction',
    'hash-max-ziplist-value': '512', // hash-max-listpack-value by the name that Redis 6 knows too
  };
  return [...toArguments(Object.entries(settings)), ...args];
}

function toArguments(settings: readonly (readonly string[])[]): string[] {
  return settings.flatMap(([name, ...values]) => [`--${name}`, ...values]);
}

/**
 * Whether the server at the port has loaded its data, and has this process id: another server may have taken the port.
 */
async function isAnswering(port: number, pid: number, { security, mayBeLoading }: RedisOptions): Promise<boolean> {
  const reply = await askRedis(port, 'PING\r\nINFO server', security?.password);
  const isHere = reply.startsWith('+PONG') || (mayBeLoading === true && reply.startsWith('-LOADING'));
  return isHere && reply.includes(`\r\nprocess_id:${pid}\r\n`);
}

/** TLS and a password for Redis servers, which then announce themselves as `localhost`. */
export interface RedisSecurity {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
  /** The password of servers and Sentinels. */
  readonly password: string;
}

/** A temporary authority and its certificate for `localhost`, as files in the caller's folder. */
export async function createRedisSecurity(dir: string): Promise<RedisSecurity> {
  const ca = await createCertificateAuthority();
  // The nodes of a cluster ask each other for one.
  const { certPem, keyPem } = await ca.issueCertificate({ hosts: ['localhost'], isForClientsToo: true });
  const write = async (name: string, text: string) => {
    const file = join(dir, name);
    await writeFile(file, text, { mode: 0o600 });
    return file;
  };
  return {
    caFile: await write('redis-ca.pem', ca.certPem),
    certFile: await write('redis-cert.pem', certPem),
    keyFile: await write('redis-key.pem', keyPem),
    password: randomBytes(12).toString('hex'),
  };
}

/**
 * Settings of a server or Sentinel that clients, replicas and other nodes reach by TLS at a separate port. The plain
 * port stays open for the set-up. Both ports require the password.
 */
export function securitySettings({ caFile, certFile, keyFile, password }: RedisSecurity, tlsPort: number): string[][] {
  return [
    ['tls-port', String(tlsPort)],
    ['tls-ca-cert-file', caFile],
    ['tls-cert-file', certFile],
    ['tls-key-file', keyFile],
    ['tls-auth-clients', 'no'],
    ['tls-replication', 'yes'],
    ['requirepass', password],
    // The name may resolve to either address.
    ['bind', '127.0.0.1', '-::1'],
  ];
}

const LIMIT_MS = 2_000;

/** Whether one client of a Redis on loopback waits for the end of a command that blocks. */
export async function hasBlockedClient(port: number): Promise<boolean> {
  return (await askRedis(port, 'INFO clients')).includes('blocked_clients:1');
}

/**
 * Sends one command to a Redis on loopback, and returns the bytes of its reply; none when there is no server. For
 * set-ups that aren't ready for a client yet. With a password it signs in first.
 */
export async function askRedis(port: number, command: string, password?: string): Promise<string> {
  const signIn = password === undefined ? '' : `AUTH ${password}\r\n`;
  const reply = await new Promise<string>((resolve) => {
    let received = '';
    const socket = connect({ host: '127.0.0.1', port }, () => socket.end(`${signIn}${command}\r\nQUIT\r\n`));
    socket.setEncoding('latin1').setTimeout(LIMIT_MS, () => socket.destroy());
    socket.on('data', (chunk: string) => (received += chunk));
    socket.on('error', () => undefined); // not listening; 'close' follows
    socket.on('close', () => {
      resolve(received);
    });
  });
  return signIn === '' ? reply : reply.replace(/^\+OK\r\n/, '');
}
