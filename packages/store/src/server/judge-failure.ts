import { variableOf, type RedisTarget } from './redis-target.ts';

/** Why there is no connection to Redis, and what to set. */
export type Failure = {
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
export function failureOf(code: FailureCode, target: RedisTarget, facts: Record<string, string> = {}): Failure {
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
