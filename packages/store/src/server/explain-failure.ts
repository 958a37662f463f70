import { isErrorLike, messageOfThrown } from '@herald/runtime/errors/is-error-like';
import { error, type Finding } from '@herald/runtime/findings/finding';
import { askServer } from './ask-server.ts';
import { failureOf, judgeDatabase, judgeFailure, type Failure } from './judge-failure.ts';
import { lookAtServer } from './look-at-server.ts';
import { describeTarget, placesOf, type RedisAccess, type RedisAddress, type RedisTarget } from './redis-target.ts';
import { sayRefusal } from './refusal.ts';

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
