import type { Finding } from '@herald/runtime/findings/finding';
import { isErrorLike, messageOfThrown } from '@herald/runtime/errors/is-error-like';
import {
  describeTarget,
  remedyFor,
  variableOf,
  type RedisAccess,
  type RedisAddress,
  type RedisTarget,
} from './redis-target.ts';
import { askServer } from './ask-server.ts';
import { CLIENT_CERTIFICATE, judgeDatabase, judgeFailure, type Failure } from './judge-failure.ts';
import { lookAtServer, type ServerLook } from './look-at-server.ts';
import { placesOf } from './places-of.ts';
import { sayRefusal } from './refusal.ts';

export type FailedConnection = {
  readonly target: RedisTarget;
  /** All that the client was told, oldest first. */
  readonly heard: readonly unknown[];
  /** What it told us in the end. */
  readonly thrown: unknown;
};

/** Why there is no connection, as one or two sentences that say what to set. Looks at the servers where the errors say too little. */
export async function explainFailure({ target, heard, thrown }: FailedConnection): Promise<Finding> {
  const failure = judgeHeard(target, heard) ?? (await lookForFailure(target));
  if (failure) {
    const { code, sentence, subject = describeTarget(target) } = failure;
    return { level: 'error', code, sentence: `${subject} ${sentence}.` };
  }
  const last = heard.findLast(isErrorLike) ?? thrown;
  const reason = sayRefusal({ message: messageOfThrown(last) });
  const sentence = `${describeTarget(target)} can't be reached (${reason}). ${remedyFor(target)}`;
  return { level: 'error', code: 'redis_unreachable', sentence };
}

/** Whether an error means that the chosen database wasn't selected: the client would go on with database 0. */
export function isDatabaseRefusal(
  error: unknown,
): error is Error & { readonly command: { readonly args: readonly string[] } } {
  return isErrorLike(error) && (error as { command?: { name?: unknown } }).command?.name === 'select';
}

function judgeHeard(target: RedisTarget, heard: readonly unknown[]): Failure | undefined {
  for (const error of heard) {
    if (isDatabaseRefusal(error)) return judgeDatabase(target, error.message, String(error.command.args[0]));
    if (!isErrorLike(error)) continue;
    const { code = '' } = error as NodeJS.ErrnoException;
    const failure = judgeFailure(target, `${error.message} ${code}`);
    if (failure) return failure;
  }
  return undefined;
}

async function lookForFailure(target: RedisTarget): Promise<Failure | undefined> {
  const { addresses, access } = placesOf(target);
  const found = await Promise.all(addresses.map((address) => lookAtAddress(target, address, access)));
  const failure = found.find((each) => each !== undefined);
  return failure ?? (target.kind === 'sentinel' ? await askSentinels(target, access) : undefined);
}

async function lookAtAddress(
  target: RedisTarget,
  address: RedisAddress,
  access: RedisAccess,
): Promise<Failure | undefined> {
  const look = await lookAtServer(address);
  if (look.kind === 'is_away') return undefined;
  const subject = target.kind === 'sentinel' ? { subject: `The Sentinel at ${address.host}:${address.port}` } : {};
  const seen = judgeLook(target, look, access);
  if (seen) return { ...seen, ...subject };
  if (look.kind === 'is_silent') return { ...SILENT, ...subject };
  if (look.kind === 'closes' && access.usesTls) return { ...CLIENT_CERTIFICATE, ...subject };
  if (look.kind === 'closes') return { ...((await speaksTls(address)) ? speakTls(target) : CLOSES), ...subject };
  if (target.kind === 'sentinel') return undefined;
  // It is a Redis, which signs us in and doesn't serve: it says why to whoever doesn't wait until it does.
  return judgeFailure(
    target,
    await askServer(address, access, target.kind === 'cluster' ? ['CLUSTER', 'INFO'] : ['PING']),
  );
}

function judgeLook(target: RedisTarget, look: ServerLook, { usesTls, password }: RedisAccess): Failure | undefined {
  if (look.kind !== 'answers') return undefined;
  if (look.text.startsWith(TLS_ALERT)) return usesTls ? CLIENT_CERTIFICATE : speakTls(target);
  if (!/^[-+$*:]/.test(look.text)) return judgeFailure(target, 'Protocol error');
  if (usesTls && /^\+PONG|^-NOAUTH/.test(look.text)) return judgeFailure(target, 'EPROTO');
  // We didn't sign in; whoever has a password would.
  if (look.text.startsWith('-NOAUTH') && password !== undefined) return undefined;
  return judgeFailure(target, look.text);
}

/** How a server with TLS answers who speaks without. */
const TLS_ALERT = String.fromCharCode(0x15, 0x03);

const SILENT: Failure = {
  code: 'redis_silent',
  sentence: 'takes connections and never answers; see whether it is Redis that listens there, and whether it hangs',
};
const CLOSES: Failure = {
  code: 'redis_closes',
  sentence: 'closes every connection at once; see whether it is Redis that listens there, and what its log says',
};

function speakTls(target: RedisTarget): Failure {
  return {
    code: 'redis_tls_expected',
    sentence: `speaks TLS at this port; write rediss:// instead of redis:// into ${variableOf(target)}, or give its port without TLS`,
  };
}

/** Whether a server answers in TLS, whatever its certificate. */
async function speaksTls(address: RedisAddress): Promise<boolean> {
  const reply = await askServer(address, { usesTls: true }, ['PING']);
  return /PONG|NOAUTH|certificate/i.test(reply);
}

async function askSentinels(
  { sentinels, masterName }: RedisTarget & { kind: 'sentinel' },
  access: RedisAccess,
): Promise<Failure | undefined> {
  const replies = await Promise.all(
    sentinels.map((address) => askServer(address, access, ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', masterName])),
  );
  if (replies.includes('null')) {
    return {
      code: 'redis_no_master',
      sentence: "isn't known to them; set REDIS_SENTINEL_MASTER to a name that SENTINEL MASTERS lists there",
    };
  }
  const named = replies.map((reply) => /^\["([^"]+)","(\d+)"\]$/.exec(reply)).find((match) => match !== null);
  return named
    ? {
        code: 'redis_master_away',
        sentence: `is at ${named[1] ?? ''}:${named[2] ?? ''}, and gives no answer there; start it, or see why it can't be reached from here`,
      }
    : undefined;
}
