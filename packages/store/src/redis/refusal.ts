import { isErrorLike } from '@herald/runtime/errors';

const REFUSALS = [
  ['not_permitted', /\bNOPERM\b/],
  // Redis words it differently when a script calls the command.
  ['unknown_command', /unknown (?:redis )?command|command not allowed\b(?!.* when)/i],
  ['unknown_script', /\bNOSCRIPT\b/],
  ['full', /\bOOM\b/],
  ['disk', /\bMISCONF\b/],
  ['few_replicas', /\bNOREPLICAS\b/],
  ['replica', /\b(?:READONLY|MASTERDOWN)\b/],
  ['loading', /\bLOADING\b/],
  ['cluster_down', /\bCLUSTERDOWN\b/],
] as const;

/** Why a server refused a command, as far as it decides what to do about it. */
export type Refusal = (typeof REFUSALS)[number][0];

/** Undefined for an error that is no refusal, or an unforeseen one. */
export function refusalOf(thrown: unknown): Refusal | undefined {
  if (!isErrorLike(thrown)) return undefined;
  return REFUSALS.find(([, pattern]) => pattern.test(thrown.message))?.[0];
}

/**
 * The message of a refusal, fit for people. Leaves out the words of an unknown command that a server repeats: they may
 * be a password, a key or a script.
 */
export function sayRefusal({ message }: { readonly message: string }): string {
  return message
    .replace(/,? with args beginning with:.*$/s, '')
    .replace(/ script: .*$/s, '')
    .slice(0, 200);
}

const CONNECTION_CODES =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN)$/;
/** `Command aborted`: the connection broke between two replies of its pipeline. */
const CONNECTION_MESSAGES =
  /^(Stream isn't writeable|Connection is closed|Command timed out|Command aborted due to connection close|Reached the max retries per request|Connection is in closing state)/;
/** Messages of the client while Sentinels or a cluster fail over. */
const FAILOVER_MESSAGES =
  /^(All sentinels are unreachable|Too many Cluster redirections|Cluster isn't ready|Cluster is (ended|disconnected|disconnecting)|Node is disconnected|None of startup nodes is available|Failed to refresh slots cache|No subscriber for the cluster)/;
/** Replies of a Redis that can't serve: out of memory, disk trouble, replica, starting, failing over. */
const PASSING_REFUSALS =
  /\b(OOM|MISCONF|READONLY|LOADING|CLUSTERDOWN|MASTERDOWN|NOREPLICAS|TRYAGAIN|UNBLOCKED|MOVED|ASK)\b/;

/** Whether an error means that Redis can't be reached or refuses writes for now; any other error is a bug of ours. */
export function isRedisUnavailable(error: unknown): boolean {
  if (!isErrorLike(error)) return false;
  const { code = '' } = error as NodeJS.ErrnoException;
  return (
    CONNECTION_CODES.test(code) ||
    CONNECTION_MESSAGES.test(error.message) ||
    FAILOVER_MESSAGES.test(error.message) ||
    (error.name === 'ReplyError' && PASSING_REFUSALS.test(error.message))
  );
}

/** Whether Redis answered a command with an error, whose message says what is wrong. The error carries the command. */
export function isRedisRefusal(error: unknown): error is Error {
  return isErrorLike(error) && error.name === 'ReplyError';
}
