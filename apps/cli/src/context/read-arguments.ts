import {
  ErrorFilter,
  HttpStatusFilter,
  ID_PATTERNS,
  PlatformReason,
  readDuration,
  TransitionIdText,
  WorkspaceIdText,
} from '@herald/core';
import { readInteger } from '@herald/runtime/env';
import { SHARD_LIMIT } from '@herald/store/keys/keys';
import { InvalidArgumentError } from 'commander';

/** A parser of arguments by the rules that the API has for the same text. */
function textReader(schema: typeof WorkspaceIdText | typeof ErrorFilter) {
  return (text: string): string => {
    const parsed = schema.safeParse(text);
    if (parsed.success) return parsed.data;
    throw new InvalidArgumentError(parsed.error.issues.map(({ message }) => message).join('; '));
  };
}

export const readWorkspace = textReader(WorkspaceIdText);
export const readReason = textReader(PlatformReason);
export const readErrorCode = textReader(ErrorFilter);
export const readHttpStatus = textReader(HttpStatusFilter);

/** A parser of arguments: `message` is the error when `read` returns undefined. */
export function argumentReader<T>(read: (text: string) => T | undefined, message: string) {
  return (text: string): T => {
    const value = read(text);
    if (value === undefined) throw new InvalidArgumentError(message);
    return value;
  };
}

/** Checks the form of an id, so that a mistyped one is told apart from an unknown one. */
function idReader(thing: keyof typeof ID_PATTERNS, example: string) {
  const read = (text: string) => (ID_PATTERNS[thing].test(text) ? text : undefined);
  return argumentReader(read, `must be the id of a ${thing.replace('_', ' ')}, such as ${example}`);
}

export const readReceiverId = idReader('receiver', 'wh_01m7wyndtadddfeszmz5b3xx5r');
export const readDeliveryId = idReader('delivery', 'dlv_ixeizp4snsuommspdcs6oacmpu52wjbz');
export const readReplayId = idReader('replay', 'rpl_00112233445566778899aabb');
export const readPortalLinkId = idReader('portal_link', 'plk_0123456789abcdef');
export const readTransitionId = argumentReader(
  (text) => (TransitionIdText.safeParse(text).success ? text : undefined),
  'must be the id of a transition, such as trn_mzxw6ytboi4dqnrrgi2temrsgqzdknbw',
);
export const readTaskId = idReader('task', 'task_01m7wyndw5y43hayb4b4kprxx8');

const CALLBACK_ID = /^cb_[0-9a-hjkmnp-tv-z]{26}$/;

/** The id of a receiver or a callback. */
export const readEndpointId = argumentReader(
  (text) => (CALLBACK_ID.test(text) || ID_PATTERNS.receiver.test(text) ? text : undefined),
  'must be the id of a receiver, such as wh_01m7wyndtadddfeszmz5b3xx5r, or of a callback (cb_…)',
);

/** Without a zone, it is that of this machine. */
const INSTANT = /^(\d{4}-\d\d-\d\d)([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/;
const CLOCK = /^([01]?\d|2[0-3]):([0-5]\d)$/;
const DAY_MS = 86_400_000;

/**
 * A time such as `2030-01-31T12:00:00Z`, a day (its beginning), what a clock showed last, such as `14:00`, or how long
 * ago it was, such as `2h`; as epoch ms.
 */
export function timeReader(now: () => number) {
  return argumentReader((text) => {
    const agoMs = readDuration(text);
    if (agoMs !== undefined) return now() - agoMs;
    const [, hours, minutes] = CLOCK.exec(text === 'today' ? '0:00' : text) ?? [];
    if (hours !== undefined) {
      const at = new Date(now()).setHours(Number(hours), Number(minutes), 0, 0);
      return at <= now() ? at : at - DAY_MS;
    }
    // A day alone would be one of UTC.
    const whole = text.length === 10 ? `${text}T00:00` : text.replace(' ', 'T');
    const [, day] = INSTANT.exec(text) ?? [];
    const at = day !== undefined && isInCalendar(day) ? Date.parse(whole) : NaN;
    return Number.isNaN(at) ? undefined : at;
  }, 'must be how long ago, such as 2h or 3d, a time of the clock such as 14:00, or one such as 2030-01-31T12:00:00Z');
}

/** JavaScript takes the 30th of February for a day in March. */
function isInCalendar(day: string): boolean {
  const at = Date.parse(day);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}

/** One or more of `items`, separated by commas. */
export function listReader<Item extends string>(items: readonly Item[]) {
  return argumentReader(
    (text) => {
      const named = text.split(',');
      const found = items.filter((item) => named.includes(item));
      return found.length === named.length ? found : undefined;
    },
    `must be of ${items.join(', ')}, separated by commas`,
  );
}

const countReader = (limit: number) =>
  argumentReader((text) => readInteger(text, 1, limit), `must be a whole number from 1 to ${limit}`);
export const readLimit = countReader(1_000);
export const readShardCount = countReader(SHARD_LIMIT);
