import { isErrorLike, messageOfThrown } from '@herald/runtime/errors';
import { error, type Finding } from '@herald/runtime/finding';
import { Redis, type RedisOptions } from 'ioredis';
import { connect } from 'node:net';
import { sayRefusal } from './refusal.ts';
import {
  describeTarget,
  placesOf,
  toSignInOptions,
  variableOf,
  type RedisAccess,
  type RedisAddress,
  type RedisTarget,
} from './redis-target.ts';

/** What to do when it can't be reached, and nothing more is known. */
const REMEDIES: Record<RedisTarget['kind'], string> = {
  single: 'Start it (redis-server) or set REDIS_URL.',
  sentinel:
    'See whether they know a master of that name (SENTINEL get-master-addr-by-name), or correct REDIS_SENTINELS and REDIS_SENTINEL_MASTER.',
  cluster: 'See whether it is whole (redis-cli cluster info), or correct REDIS_CLUSTER_NODES.',
};

/**
 * Why there is no connection, in one or two sentences that say what to set. Looks at the servers when no error says
 * why.
 * @param heard all errors that the client emitted, oldest first
 * @param thrown the error with which connecting failed
 */
export async function explainFailure(target: RedisTarget, heard: unknown[], thrown: unknown): Promise<Finding> {
  const failure = judgeHeard(target, heard) ?? (await lookForFailure(target));
  if (failure) {
    const { code, sentence, subject = describeTarget(target) } = failure;
    return error(code, `${subject} ${sentence}.`);
  }
  const last = heard.findLast(isErrorLike) ?? thrown;
  const reason = sayRefusal({ message: messageOfThrown(last) });
  return error('redis_away', `${describeTarget(target)} can't be reached (${reason}). ${REMEDIES[target.kind]}`);
}

/** Whether an error means that the chosen database wasn't selected: the client would go on with database 0. */
export function isDatabaseRefusal(
  thrown: unknown,
): thrown is Error & { readonly command: { readonly args: readonly string[] } } {
  return isErrorLike(thrown) && (thrown as { command?: { name?: unknown } }).command?.name === 'select';
}

function judgeHeard(target: RedisTarget, heard: readonly unknown[]): Failure | undefined {
  for (const each of heard) {
    if (isDatabaseRefusal(each)) return judgeDatabase(target, each.message, String(each.command.args[0]));
    if (!isErrorLike(each)) continue;
    const { code = '' } = each as NodeJS.ErrnoException;
    const failure = judgeFailure(target, `${each.message} ${code}`);
    if (failure) return failure;
  }
  return undefined;
}

async function lookForFailure(target: RedisTarget): Promise<Failure | undefined> {
  const { addresses, access } = placesOf(target);
  const found = await Promise.all(addresses.map((address) => lookAtAddress(target, address, access)));
  const index = found.findIndex((each) => each !== undefined);
  const [failure, address] = [found[index], addresses[index]];
  if (target.kind !== 'sentinel') return failure;
  if (!failure || !address) return await askSentinels(target, access);
  return { ...failure, subject: `The Sentinel at ${address.host}:${address.port}` };
}

async function lookAtAddress(
  target: RedisTarget,
  address: RedisAddress,
  access: RedisAccess,
): Promise<Failure | undefined> {
  const look = await lookAtServer(address);
  switch (look.kind) {
    case 'is_away':
      return undefined;
    case 'is_silent':
      return failureOf('redis_hangs', target);
    case 'closes':
      if (access.usesTls) return failureOf('redis_client_certificate', target);
      return failureOf((await speaksTls(address)) ? 'redis_tls_expected' : 'redis_closes', target);
    case 'answers': {
      const failure = judgeAnswer(target, look.text, access);
      if (failure || target.kind === 'sentinel') return failure;
      // A Redis that signs us in and doesn't serve says why to a client that doesn't wait until it does.
      const reply = await askServer(address, access, target.kind === 'cluster' ? ['CLUSTER', 'INFO'] : ['PING']);
      return judgeFailure(target, reply);
    }
  }
}

function judgeAnswer(target: RedisTarget, text: string, { usesTls, password }: RedisAccess): Failure | undefined {
  if (text.startsWith(TLS_ALERT)) return failureOf(usesTls ? 'redis_client_certificate' : 'redis_tls_expected', target);
  if (!/^[-+$*:]/.test(text)) return failureOf('redis_is_none', target);
  if (usesTls && /^\+PONG|^-NOAUTH/.test(text)) return failureOf('redis_plain_expected', target);
  // The PING didn't sign in. A client with a password would.
  if (text.startsWith('-NOAUTH') && password !== undefined) return undefined;
  return judgeFailure(target, text);
}

/** The beginning of the answer of a server with TLS to plain text. */
const TLS_ALERT = String.fromCharCode(0x15, 0x03);

/** Whether a server answers in TLS, whatever its certificate. */
async function speaksTls(address: RedisAddress): Promise<boolean> {
  const reply = await askServer(address, { usesTls: true }, ['PING']);
  return /PONG|NOAUTH|certificate/i.test(reply);
}

async function askSentinels(
  target: Extract<RedisTarget, { kind: 'sentinel' }>,
  access: RedisAccess,
): Promise<Failure | undefined> {
  const { sentinels, masterName } = target;
  const replies = await Promise.all(
    sentinels.map((address) => askServer(address, access, ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', masterName])),
  );
  if (replies.includes('null')) return failureOf('redis_no_master', target);
  const named = replies.map((reply) => /^\["([^"]+)","(\d+)"\]$/.exec(reply)).find((match) => match !== null);
  return named ? failureOf('redis_master_away', target, { address: `${named[1] ?? ''}:${named[2] ?? ''}` }) : undefined;
}

/** Why there is no connection to Redis, and what to set. */
type Failure = {
  readonly code: FailureCode;
  /** The end of a sentence that begins with its subject. */
  readonly sentence: string;
  /** The server, where it isn't the whole set-up. */
  readonly subject?: string;
};
export type FailureCode = keyof typeof SENTENCES;

/** `<variable>` stands for the variable that says where Redis is, and `<hosts>` for an example of what it holds. */
const SENTENCES = {
  redis_wrong_password:
    'refuses the user or the password; correct them in <variable>, percent-encoded where they have special characters',
  redis_password_missing:
    'asks for a password; put user and password into <variable>, as in redis://user:password@<hosts>',
  redis_sentinel_password: "can't be found, because the Sentinels want another password; set REDIS_SENTINEL_PASSWORD",
  redis_protected:
    'takes no connections from other machines without a password (protected mode); set one there (requirepass, or an ACL user), and put it into <variable>',
  redis_too_many_clients:
    'has as many connections as it takes; raise its maxclients, or stop what else is connected (redis-cli client list)',
  redis_loading:
    'is loading its data; start this again when it is done (redis-cli info persistence tells how far it is)',
  redis_cluster_down:
    'is down, because some slots are served by nobody; start or repair its nodes, as redis-cli --cluster check says',
  cluster_missing: 'is no cluster; set REDIS_URL instead of REDIS_CLUSTER_NODES',
  cluster_unexpected: 'is a cluster, which has no databases; set REDIS_CLUSTER_NODES instead of REDIS_URL',
  redis_no_sentinel:
    "can't be asked for: what answers there is Redis itself, and no Sentinel; set REDIS_URL instead of REDIS_SENTINELS and REDIS_SENTINEL_MASTER",
  redis_no_master: "isn't known to them; set REDIS_SENTINEL_MASTER to a name that SENTINEL MASTERS lists there",
  redis_master_away: "is at <address>, and gives no answer there; start it, or see why it can't be reached from here",
  redis_is_none: 'is no Redis: what answers there speaks another protocol; correct <variable>',
  redis_hangs: 'takes connections and never answers; see whether it is Redis that listens there, and whether it hangs',
  redis_closes: 'closes every connection at once; see whether it is Redis that listens there, and what its log says',
  // A guess: the client seldom reads why it was cut off.
  redis_client_certificate:
    'closes its TLS connections, most likely since it wants a certificate of its clients, which Herald has none of; set tls-auth-clients no there, and see what its log says',
  redis_certificate_unknown:
    'has a certificate of an authority that is not known here; set NODE_EXTRA_CA_CERTS to a PEM file with that authority',
  redis_certificate_name: 'has a certificate for another name; write the name that it is for into <variable>',
  redis_certificate_expired:
    'has a certificate that is not valid now; renew it, or set the clock of this machine right',
  redis_plain_expected:
    "doesn't speak TLS at this port; write redis:// instead of rediss:// into <variable>, or give its TLS port",
  redis_tls_expected:
    'speaks TLS at this port; write rediss:// instead of redis:// into <variable>, or give its port without TLS',
  redis_database_missing:
    'has no database <database>; set <variable> to one that it has, or raise "databases" in its configuration',
  redis_database_refused:
    "doesn't let this user select database <database>; allow it (ACL SETUSER, +select), or set <variable> without a database",
};

/** Patterns of messages. The first match counts. */
const KNOWN: readonly (readonly [RegExp, FailureCode])[] = [
  [/WRONGPASS|invalid (?:username-password|password)/, 'redis_wrong_password'],
  [/\bNOAUTH\b/, 'redis_password_missing'],
  [/\bDENIED\b|protected mode/, 'redis_protected'],
  [/max number of clients/, 'redis_too_many_clients'],
  [/\bLOADING\b/, 'redis_loading'],
  [/\bCLUSTERDOWN\b|cluster_state:fail/, 'redis_cluster_down'],
  [/cluster support disabled/, 'cluster_missing'],
  [/unknown command '?sentinel/i, 'redis_no_sentinel'],
  [/RESP type|Protocol error/, 'redis_is_none'],
  [/certificate required|CERTIFICATE_REQUIRED|handshake failure/i, 'redis_client_certificate'],
  [/self-signed certificate|unable to (?:verify|get)|SELF_SIGNED|UNABLE_TO/i, 'redis_certificate_unknown'],
  [/does not match certificate|ALTNAME_INVALID/i, 'redis_certificate_name'],
  [/certificate (?:has expired|is not yet valid)|CERT_/i, 'redis_certificate_expired'],
  [/wrong version number|packet length too long|EPROTO/i, 'redis_plain_expected'],
];

/** @param facts fill the other placeholders of the sentence */
function failureOf(code: FailureCode, target: RedisTarget, facts: Record<string, string> = {}): Failure {
  const hosts = target.kind === 'single' ? 'host:6379' : 'host:6379,host:6379';
  const known: Record<string, string> = { variable: variableOf(target), hosts, ...facts };
  return { code, sentence: SENTENCES[code].replace(/<(\w+)>/g, (_, name: string) => known[name] ?? '') };
}

/** What the message of a client's error means; undefined for a message that gives no reason. */
export function judgeFailure(target: RedisTarget, message: string): Failure | undefined {
  const code = KNOWN.find(([pattern]) => pattern.test(message))?.[1];
  const isOfSentinels = target.kind === 'sentinel' && message.startsWith('All sentinels are unreachable');
  if (isOfSentinels && code?.includes('password')) return failureOf('redis_sentinel_password', target);
  return code && failureOf(code, target);
}

/** What a refused choice of a database means. Herald must never work in another database. */
export function judgeDatabase(target: RedisTarget, message: string, database: string): Failure {
  if (message.includes('cluster mode')) return failureOf('cluster_unexpected', target);
  const isMissing = message.includes('out of range');
  return failureOf(isMissing ? 'redis_database_missing' : 'redis_database_refused', target, { database });
}

/** What a server does after a PING in plain text. */
type ServerLook =
  | { readonly kind: 'answers'; readonly text: string }
  | { readonly kind: 'is_silent' | 'closes' | 'is_away' };

const LIMIT_MS = 1_000;
const LIMIT_BYTES = 1_024;

/**
 * Looks at an address where the client gets no answer. A server says why it refuses a connection before the first
 * command, and the client drops that. Never rejects.
 */
async function lookAtServer({ host, port }: RedisAddress): Promise<ServerLook> {
  return await new Promise((resolve) => {
    let text = '';
    let isConnected = false;
    const socket = connect({ host, port }, () => {
      isConnected = true;
      socket.write('PING\r\n');
    });
    const end = (look: ServerLook) => {
      clearTimeout(timer);
      resolve(text === '' ? look : { kind: 'answers', text });
      socket.destroy();
    };
    const timer = setTimeout(() => {
      end({ kind: isConnected ? 'is_silent' : 'is_away' });
    }, LIMIT_MS);
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (text.includes('\n') || text.length >= LIMIT_BYTES) end({ kind: 'closes' });
    });
    socket.on('error', () => undefined); // 'close' follows
    socket.on('close', () => {
      end({ kind: isConnected ? 'closes' : 'is_away' });
    });
  });
}

const ASK_LIMIT_MS = 1_000;

/** Sends one command to a server. Returns its reply as JSON, or the message of the error. Never rejects. */
async function askServer(
  address: RedisAddress,
  access: RedisAccess,
  [name, ...args]: readonly [string, ...string[]],
): Promise<string> {
  const options: Omit<RedisOptions, 'replyMapping'> = {
    ...address,
    ...toSignInOptions(access),
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: () => null,
    connectTimeout: ASK_LIMIT_MS,
    commandTimeout: ASK_LIMIT_MS,
    maxRetriesPerRequest: 0,
  };
  const redis = new Redis(options);
  let last: Error | undefined;
  redis.on('error', (error: Error) => (last = error));
  try {
    return JSON.stringify(await redis.call(name, ...args));
  } catch (thrown) {
    return messageOfThrown(last ?? thrown);
  } finally {
    redis.disconnect();
  }
}
