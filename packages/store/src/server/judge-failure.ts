import { variableOf, type RedisTarget } from './redis-target.ts';

/** What is wrong with a Redis that can't be connected to, and what to set: the end of a sentence that begins with where it is. */
export type Failure = {
  readonly code: string;
  readonly sentence: string;
  /** Where it is, if that isn't the whole set-up. */
  readonly subject?: string;
};

/** The client seldom reads why it was cut off. */
export const CLIENT_CERTIFICATE: Failure = {
  code: 'redis_client_certificate',
  sentence:
    'closes its TLS connections, most likely since it wants a certificate of its clients, which Herald has none of; set tls-auth-clients no there, and see what its log says',
};

type Judge = (target: RedisTarget) => Failure;

/** By what an error says, in the order in which they are tried: the client's, the server's, and those of TLS. */
const KNOWN: readonly (readonly [pattern: RegExp, judge: Judge])[] = [
  [
    /WRONGPASS|invalid (?:username-password|password)/,
    (target) => ({
      code: 'redis_wrong_password',
      sentence: `refuses the user or the password; correct them in ${variableOf(target)}, percent-encoded where they have special characters`,
    }),
  ],
  [
    /\bNOAUTH\b/,
    (target) => ({
      code: 'redis_password_missing',
      sentence: `asks for a password; put user and password into ${variableOf(target)}, as in ${exampleOf(target)}`,
    }),
  ],
  [
    /\bDENIED\b|protected mode/,
    (target) => ({
      code: 'redis_protected',
      sentence: `takes no connections from other machines without a password (protected mode); set one there (requirepass, or an ACL user), and put it into ${variableOf(target)}`,
    }),
  ],
  [
    /max number of clients/,
    () => ({
      code: 'redis_too_many_clients',
      sentence:
        'has as many connections as it takes; raise its maxclients, or stop what else is connected (redis-cli client list)',
    }),
  ],
  [
    /\bLOADING\b/,
    () => ({
      code: 'redis_loading',
      sentence:
        'is loading its data; start this again when it is done (redis-cli info persistence tells how far it is)',
    }),
  ],
  [
    /\bCLUSTERDOWN\b|cluster_state:fail/,
    () => ({
      code: 'redis_cluster_down',
      sentence:
        'is down, because some slots are served by nobody; start or repair its nodes, as redis-cli --cluster check says',
    }),
  ],
  [
    /cluster support disabled/,
    () => ({ code: 'cluster_missing', sentence: 'is no cluster; set REDIS_URL instead of REDIS_CLUSTER_NODES' }),
  ],
  [
    /unknown command '?sentinel/i,
    () => ({
      code: 'redis_no_sentinel',
      sentence:
        "can't be asked for: what answers there is Redis itself, and no Sentinel; set REDIS_URL instead of REDIS_SENTINELS and REDIS_SENTINEL_MASTER",
    }),
  ],
  [
    /RESP type|Protocol error/,
    (target) => ({
      code: 'redis_is_none',
      sentence: `is no Redis: what answers there speaks another protocol; correct ${variableOf(target)}`,
    }),
  ],
  [/certificate required|CERTIFICATE_REQUIRED|handshake failure/i, () => CLIENT_CERTIFICATE],
  [
    /self-signed certificate|unable to (?:verify|get)|SELF_SIGNED|UNABLE_TO/i,
    () => ({
      code: 'redis_certificate_unknown',
      sentence:
        'has a certificate of an authority that is not known here; set NODE_EXTRA_CA_CERTS to a PEM file with that authority',
    }),
  ],
  [
    /does not match certificate|ALTNAME_INVALID/i,
    (target) => ({
      code: 'redis_certificate_name',
      sentence: `has a certificate for another name; write the name that it is for into ${variableOf(target)}`,
    }),
  ],
  [
    /certificate (?:has expired|is not yet valid)|CERT_/i,
    () => ({
      code: 'redis_certificate_expired',
      sentence: 'has a certificate that is not valid now; renew it, or set the clock of this machine right',
    }),
  ],
  [
    /wrong version number|packet length too long|EPROTO/i,
    (target) => ({
      code: 'redis_plain_expected',
      sentence: `doesn't speak TLS at this port; write redis:// instead of rediss:// into ${variableOf(target)}, or give its TLS port`,
    }),
  ],
];

/** What an error that a client was given means for people; undefined for those that say no more than that it failed. */
export function judgeFailure(target: RedisTarget, message: string): Failure | undefined {
  const failure = KNOWN.find(([pattern]) => pattern.test(message))?.[1](target);
  const isOfSentinels = target.kind === 'sentinel' && message.startsWith('All sentinels are unreachable');
  return isOfSentinels && failure?.code.includes('password') ? SENTINEL_PASSWORD : failure;
}

const SENTINEL_PASSWORD: Failure = {
  code: 'redis_sentinel_password',
  sentence: "can't be found, because the Sentinels want another password; set REDIS_SENTINEL_PASSWORD",
};

/** What a refused choice of a database means. It must never be worked in another one. */
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
