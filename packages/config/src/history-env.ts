import { problemOf, ParsedText } from '@herald/runtime/env/env';
import { z } from 'zod';
import { Duration } from './duration.ts';

const DAY_MS = 86_400_000;
/** Which of several servers is wanted, as libpq knows it; packages/history/src/pool chooses by it. */
const SESSION_ATTRS = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'];

/** How long settled deliveries stay in Redis, with and without a history. */
const RETENTION_MS = { withHistory: 3_600_000, without: 7 * DAY_MS };

/** As it is: the history reads its hosts, and the driver its parameters, such as sslmode. */
function readUrl(text: string): string | undefined {
  const [, before = '', hosts = '', after = ''] =
    /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]*)(.*)$/.exec(text) ?? [];
  const isWhole = hosts.split(',').every((host) => {
    const url = URL.parse(`${before}${host}${after}`);
    const attrs = url?.searchParams.get('target_session_attrs') ?? 'any';
    return url !== null && url.hostname !== '' && url.pathname.length > 1 && SESSION_ATTRS.includes(attrs);
  });
  return isWhole ? text : undefined;
}

/** Where settled deliveries go. Without HISTORY_URL they stay in Redis until they expire. */
export const HistoryEnv = z.object({
  HISTORY_URL: ParsedText(
    readUrl,
    'must be a url with a database, such as postgres://herald:password@10.0.0.5:5432/herald?sslmode=verify-full; ' +
      'percent-encode what is special in its password; several hosts are separated by commas, and a target_session_attrs ' +
      `is one of ${SESSION_ATTRS.join(', ')}`,
  ).optional(),
  HISTORY_RETENTION: Duration.refine((ms) => ms >= DAY_MS, 'must be at least 1d').default(90 * DAY_MS),
  HISTORY_BODIES: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .default('true')
    .transform((text) => text === 'true'),
});

type Given = z.infer<typeof HistoryEnv> & { readonly RETENTION?: number | undefined };

/** What leaves Redis after its own day is over would leave the history at once. */
export function withLongerHistory<Schema extends z.ZodType<Partial<Given>>>(schema: Schema): Schema {
  return schema.refine(
    ({ HISTORY_URL: url, HISTORY_RETENTION: history, RETENTION: retention }) =>
      url === undefined || history === undefined || retention === undefined || history > retention,
    problemOf(
      'HISTORY_RETENTION',
      'must be longer than RETENTION, since settled deliveries move to the history after it',
    ),
  );
}

/** How long settled deliveries stay in Redis, in ms. */
export function toRetentionMs({ HISTORY_URL: url, RETENTION: given }: Given): number {
  return given ?? (url === undefined ? RETENTION_MS.without : RETENTION_MS.withHistory);
}

/** How long an ended replay can be looked up, in ms: a history keeps none. */
export function toReplayRetentionMs(given: Given): number {
  return given.HISTORY_URL === undefined ? toRetentionMs(given) : RETENTION_MS.without;
}

/** Undefined: there is no history. */
export function toHistoryConfig(given: Given) {
  const { HISTORY_URL: url, HISTORY_RETENTION: retentionMs, HISTORY_BODIES: keepsBodies } = given;
  return url === undefined ? undefined : { url, retentionMs, keepsBodies };
}
export type HistoryConfig = NonNullable<ReturnType<typeof toHistoryConfig>>;
