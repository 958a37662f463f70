import { createHmac } from 'node:crypto';
import { EVENT_NAMES, type EventName } from '../event.ts';
import { checkSecrets } from '../signatures.ts';

/** What a command uses of its process. */
export type Terminal = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Prints a line. */
  readonly say: (line: string) => void;
  /** Prints a line to standard error. */
  readonly warn: (line: string) => void;
  /** Epoch ms. */
  readonly now: () => number;
};

/** The arguments can't work. Its message says what to change. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

type Env = Terminal['env'];

/** A url for HTTP. @throws UsageError */
export function readUrl(text: string | undefined, option: string): URL {
  if (text === undefined || text === '') throw new UsageError(`${option} is missing`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new UsageError(`${option} must be a url that begins with http:// or https://, not ${text}`);
}

/** An API key. @throws UsageError */
export function readKey(text: string | undefined): string {
  if (text === undefined || text === '')
    throw new UsageError('--key is missing: give an API key with the scope webhooks');
  if (!/^[\x21-\x7e]+$/.test(text)) throw new UsageError('--key must be an API key as it was shown, without spaces');
  return text;
}

/** The name of an event. @throws UsageError */
export function readEventName(text: string | undefined): EventName {
  const found = EVENT_NAMES.find((name) => name === text);
  if (found !== undefined) return found;
  const given = text === undefined ? 'the event is missing' : `${text} is no event`;
  throw new UsageError(`${given}: name one of ${EVENT_NAMES.join(', ')}`);
}

/** The names of events with commas between them. @throws UsageError */
export function readEventNames(text: string | undefined): EventName[] {
  if (text === undefined) return [];
  const names = text.split(',').map(readEventName);
  if (names.includes('webhook.test')) {
    throw new UsageError('webhook.test is sent to one receiver, and shown to no listener: leave it out of --events');
  }
  return names;
}

/** The secrets of `--secret`, or else of HERALD_SECRETS; undefined when neither is given. @throws UsageError */
export function findSecrets(given: string | undefined, env: Env): readonly string[] | undefined {
  const text = given ?? env.HERALD_SECRETS;
  if (text === undefined || text === '') return undefined;
  try {
    return checkSecrets(text.split(','));
  } catch (error) {
    const from = given === undefined ? 'HERALD_SECRETS' : '--secret';
    throw new UsageError(`${from}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** As `findSecrets`. @throws UsageError when there is none */
export function readSecrets(given: string | undefined, env: Env): readonly string[] {
  const found = findSecrets(given, env);
  if (found) return found;
  throw new UsageError('--secret is missing: give the signing secret of your program, whsec_…');
}

/**
 * A signing secret in the form of Herald's, the same for this key and this service at every start: a program on this
 * machine need not be told of another one. Nothing leads from it to the key.
 */
export function secretOf(key: string, origin: string): string {
  return `whsec_${createHmac('sha256', key).update(`herald-receiver listen ${origin}`).digest('base64')}`;
}
