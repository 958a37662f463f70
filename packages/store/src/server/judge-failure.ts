import { variableOf, type RedisTarget } from './redis-target.ts';

/** Why there is no connection to Redis, and what to set. */
export type Failure = {
  readonly code: string;
  /** The end of a sentence that begins with its subject. */
  readonly sentence: string;
  /** The server, where it isn't the whole set-up. */
  readonly subject?: string;
};

/** A guess: the client seldom reads why it was cut off. */
export const CLIENT_CERTIFICATE: Failure = {
  code: 'redis_client_certificate',
  sentence:
    'closes its TLS connections, most likely since it wants a certificate of its clients, which Herald has none of; set tls-auth-clients no there, and see what its log says',
};

type Known = readonly [pattern: RegExp, code: string, sentenceFor: (target: RedisTarget) => string];

/** By the message of an error, in the order in which they are tried: messages of the client, of the server, and of TLS. */
const KNOWN: readonly Known[] = [
  [
    /WRONGPASS|invalid (?:username-password|password)/,
    'redis_wrong_password',
    (target) =>
      `refuses the user or the password; correct them in ${variableOf(target)}, percent-encoded where they have special characters`,
  ],
  [
    /\bNOAUTH\b/,
    'redis_password_missing',
    (target) => `asks for a password; put user and password into ${variableOf(target)}, as in ${exampleOf(target)}`,
  ],
  [
    /\bDENIED\b|protected mode/,
    'redis_protected',
    (target) =>
      `takes no connections from other machines without a password (protected mode); set one there (requirepass, or an ACL user), and put it into ${variableOf(target)}`,
  ],
  [
    /max number of clients/,
    'redis_too_many_clients',
    () =>
      'has as many connections as it takes; raise its maxclients, or stop what else is connected (redis-cli client list)',
  ],
  [
    /\bLOADING\b/,
    'redis_loading',
    () => 'is loading its data; start this again when it is done (redis-cli info persistence tells how far it is)',
  ],
  [
    /\bCLUSTERDOWN\b|cluster_state:fail/,
    'redis_cluster_down',
    () =>
      'is down, because some slots are served by nobody; start or repair its nodes, as redis-cli --cluster check says',
  ],
  [/cluster support disabled/, 'cluster_missing', () => 'is no cluster; set REDIS_URL instead of REDIS_CLUSTER_NODES'],
  [
    /unknown command '?sentinel/i,
    'redis_no_sentinel',
    () =>
      "can't be asked for: what answers there is Redis itself, and no Sentinel; set REDIS_URL instead of REDIS_SENTINELS and REDIS_SENTINEL_MASTER",
  ],
  [
    /RESP type|Protocol error/,
    'redis_is_none',
    (target) => `is no Redis: what answers there speaks another protocol; correct ${variableOf(target)}`,
  ],
  [
    /certificate required|CERTIFICATE_REQUIRED|handshake failure/i,
    CLIENT_CERTIFICATE.code,
    () => CLIENT_CERTIFICATE.sentence,
  ],
  [
    /self-signed certificate|unable to (?:verify|get)|SELF_SIGNED|UNABLE_TO/i,
    'redis_certificate_unknown',
    () =>
      'has a certificate of an authority that is not known here; set NODE_EXTRA_CA_CERTS to a PEM file with that authority',
  ],
  [
    /does not match certificate|ALTNAME_INVALID/i,
    'redis_certificate_name',
    (target) => `has a certificate for another name; write the name that it is for into ${variableOf(target)}`,
  ],
  [
    /certificate (?:has expired|is not yet valid)|CERT_/i,
    'redis_certificate_expired',
    () => 'has a certificate that is not valid now; renew it, or set the clock of this machine right',
  ],
  [
    /wrong version number|packet length too long|EPROTO/i,
    'redis_plain_expected',
    (target) =>
      `doesn't speak TLS at this port; write redis:// instead of rediss:// into ${variableOf(target)}, or give its TLS port`,
  ],
];

/** What the message of a client's error means; undefined for a message that gives no reason. */
export function judgeFailure(target: RedisTarget, message: string): Failure | undefined {
  const known = KNOWN.find(([pattern]) => pattern.test(message));
  if (!known) return undefined;
  const [, code, sentenceFor] = known;
  const isOfSentinels = target.kind === 'sentinel' && message.startsWith('All sentinels are unreachable');
  return isOfSentinels && code.includes('password') ? SENTINEL_PASSWORD : { code, sentence: sentenceFor(target) };
}

const SENTINEL_PASSWORD: Failure = {
  code: 'redis_sentinel_password',
  sentence: "can't be found, because the Sentinels want another password; set REDIS_SENTINEL_PASSWORD",
};

/** What a refused choice of a database means. Herald must never work in another database. */
export function judgeDatabase(target: RedisTarget, message: string, database: string): Failure {
  if (message.includes('cluster mode')) {
    return {
      code: 'cluster_unexpected',
      sentence: 'is a cluster, which has no databases; set REDIS_CLUSTER_NODES instead of REDIS_URL',
    };
  }
  if (message.includes('out of range')) {
    return {
      code: 'redis_database_missing',
      sentence: `has no database ${database}; set ${variableOf(target)} to one that it has, or raise "databases" in its configuration`,
    };
  }
  return {
    code: 'redis_database_refused',
    sentence: `doesn't let this user select database ${database}; allow it (ACL SETUSER, +select), or set ${variableOf(target)} without a database`,
  };
}

function exampleOf({ kind }: RedisTarget): string {
  return kind === 'single' ? 'redis://user:password@host:6379' : 'redis://user:password@host:6379,host:6379';
}
