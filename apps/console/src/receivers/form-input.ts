import { readDuration, writeDuration } from '@herald/core/duration';
import type { Schemas } from '../api/client.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { showsUtc } from '../time/time-text.ts';

type Receiver = Schemas['Receiver'];
type Patch = Schemas['PatchReceiver'];

/** What somebody types under "Advanced". Empty: none. */
export type AdvancedInput = {
  readonly ordering: Receiver['ordering'];
  readonly orderingTimeout: string;
  readonly perSecond: string;
  readonly maxRetryHours: string;
  /** Names of headers that it has. */
  readonly headerNames: readonly string[];
  /** Lines of `name: value`; undefined keeps those that it has. */
  readonly headers: string | undefined;
};

/** The fields of a request that it stands for. */
export type AdvancedFields = Pick<
  Patch,
  'ordering' | 'orderingTimeoutSeconds' | 'rateLimit' | 'maxRetryHours' | 'headers'
>;

/** What is wrong with it, by the paths that the service would name. */
type AdvancedProblems = ReadonlyMap<'orderingTimeoutSeconds' | 'rateLimit' | 'maxRetryHours' | 'headers', string>;

export const NO_ADVANCED: AdvancedInput = {
  ordering: 'none',
  orderingTimeout: '24h',
  perSecond: '',
  maxRetryHours: '',
  headerNames: [],
  headers: '',
};

export function toAdvancedInput({
  ordering,
  orderingTimeoutSeconds,
  rateLimit,
  maxRetryHours,
  headerNames = [],
}: Pick<
  Receiver,
  'ordering' | 'orderingTimeoutSeconds' | 'rateLimit' | 'maxRetryHours' | 'headerNames'
>): AdvancedInput {
  return {
    ordering,
    orderingTimeout: writeDuration(orderingTimeoutSeconds * 1_000),
    perSecond: String(rateLimit?.perSecond ?? ''),
    maxRetryHours: String(maxRetryHours ?? ''),
    headerNames,
    headers: headerNames.length === 0 ? '' : undefined,
  };
}

/** Only what can't be written into a request. All bounds are the service's, which says them itself. */
export function judgeAdvanced({
  orderingTimeout,
  perSecond,
  maxRetryHours,
  headers = '',
}: AdvancedInput): AdvancedProblems {
  const { noDuration, notWhole } = receiverTexts.advanced;
  const problems = new Map<'orderingTimeoutSeconds' | 'rateLimit' | 'maxRetryHours' | 'headers', string>();
  if (readDuration(orderingTimeout) === undefined) problems.set('orderingTimeoutSeconds', noDuration);
  if (!isWholeOrEmpty(perSecond)) problems.set('rateLimit', notWhole);
  if (!isWholeOrEmpty(maxRetryHours)) problems.set('maxRetryHours', notWhole);
  const { problem } = readLines(headers);
  if (problem !== undefined) problems.set('headers', problem);
  return problems;
}

/** The fields that differ: what stays isn't sent. Call it only without problems. */
export function toAdvancedFields(first: AdvancedInput, input: AdvancedInput): AdvancedFields {
  const { ordering, orderingTimeout, perSecond, maxRetryHours, headers } = input;
  return {
    ...(ordering !== first.ordering && { ordering }),
    ...(orderingTimeout.trim() !== first.orderingTimeout && {
      orderingTimeoutSeconds: (readDuration(orderingTimeout) ?? 0) / 1_000,
    }),
    ...(perSecond.trim() !== first.perSecond && {
      rateLimit: perSecond.trim() === '' ? null : { perSecond: Number(perSecond) },
    }),
    ...(maxRetryHours.trim() !== first.maxRetryHours && {
      maxRetryHours: maxRetryHours.trim() === '' ? null : Number(maxRetryHours),
    }),
    ...(headers !== undefined && headers !== first.headers && { headers: readLines(headers).headers }),
  };
}

/** Whether saving drops the receiver's headers: they go to no other origin. */
export function dropsHeaders(formerUrl: string, url: string, { headerNames, headers }: AdvancedInput): boolean {
  const origin = URL.parse(url)?.origin;
  return (
    headerNames.length > 0 && headers === undefined && origin !== undefined && origin !== URL.parse(formerUrl)?.origin
  );
}

const isWholeOrEmpty = (text: string): boolean => /^\s*\d{0,9}\s*$/.test(text);

function readLines(text: string): { readonly headers: Record<string, string>; readonly problem?: string } {
  const { noColon, twice } = receiverTexts.advanced;
  const headers = new Map<string, string>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const colon = line.indexOf(':');
    // A sentence never has a value: it may be a credential.
    if (colon < 1) return { headers: {}, problem: noColon(index + 1) };
    const name = line.slice(0, colon).trim();
    if (headers.has(name)) return { headers: {}, problem: twice(index + 1) };
    headers.set(name, line.slice(colon + 1).trim());
  }
  return { headers: Object.fromEntries(headers) };
}

type Refusal = { readonly path: string; readonly message: string };

/** The fields of the form that show themselves what the service says about them. */
const FIELDS = ['url', 'orderingTimeoutSeconds', 'rateLimit', 'maxRetryHours', 'headers'];

const isOf = (field: string, path: string): boolean => path === field || path.startsWith(`${field}.`);

/** What the service says about a field of the form; about headers with the name of each. */
export function findRefusal(refusals: readonly Refusal[], field: string): string | undefined {
  const found = refusals.filter(({ path }) => isOf(field, path));
  const [first] = found;
  if (first === undefined) return undefined;
  if (field !== 'headers') return withoutPath(first);
  return found.map((each) => `${each.path.slice('headers.'.length)} ${withoutPath(each)}`.trim()).join('; ');
}

/** The field stands beside it. */
function withoutPath({ path, message }: Refusal): string {
  return message.startsWith(`${path} `) ? message.slice(path.length + 1) : message;
}

/** Whether the fields show all of it. */
export function isToldAtFields(refusals: readonly Refusal[]): boolean {
  return refusals.length > 0 && refusals.every(({ path }) => FIELDS.some((field) => isOf(field, path)));
}

/** What an input of the type `datetime-local` holds for a time, in the chosen zone. */
export function toLocalInput(ms: number): string {
  const offsetMs = showsUtc.get() ? 0 : new Date(ms).getTimezoneOffset() * 60_000;
  return new Date(ms - offsetMs).toISOString().slice(0, 16);
}

/** The time of such an input; undefined while it is empty. */
export function fromLocalInput(text: string): string | undefined {
  const ms = text === '' ? NaN : new Date(showsUtc.get() ? `${text}Z` : text).getTime();
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

/** Why a replay can't be asked for like this, or undefined. */
export function judgeReplay(since: string, until: string, statuses: readonly string[]): string | undefined {
  const { sinceMissing, order, chooseOne } = receiverTexts.replay;
  const [from, to] = [fromLocalInput(since), fromLocalInput(until)];
  if (from === undefined) return sinceMissing;
  if (to !== undefined && to <= from) return order;
  return statuses.length === 0 ? chooseOne : undefined;
}
