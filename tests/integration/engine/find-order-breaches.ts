import { DEFAULT_ORDERING_TIMEOUT_MS, type DeliveryId } from '@herald/core';
import type { LoadReply } from '@herald/store/deliveries/delivery-record';
import type { Reserved } from '../../../packages/queue/src/worker/reserve.ts';
import { findFaults, idOf, readQueue } from '../queue/read-queue.ts';
import type { Known, Model } from './deliveries-model.ts';
import { LIMIT, type Engine } from './start-engine.ts';

type Seen = Known & { readonly fields: Readonly<Record<string, string>> };

const lineOf = ({ receiver, taskId }: Known) => `${receiver.id} ${taskId}`;
const timeoutOf = ({ receiver }: Known) => receiver.orderingTimeoutMs ?? DEFAULT_ORDERING_TIMEOUT_MS;

async function readAll({ redis, keys }: Engine, { known }: Model): Promise<Seen[]> {
  return await Promise.all(
    [...known.values()].map(async (one) => ({ ...one, fields: await redis.hgetall(keys.delivery(one.id)) })),
  );
}

/** The pending deliveries of each line, in order. */
function readLines(all: readonly Seen[]): Seen[][] {
  const inLine = all.filter(({ fields }) => fields.s === 'pending' && fields.o !== undefined);
  return [...Map.groupBy(inLine, lineOf).values()].map((line) => line.sort((a, b) => a.sequence - b.sequence));
}

/** What is wrong in Redis, as sentences. */
export async function findBreaches(engine: Engine, model: Model): Promise<string[]> {
  const { redis, keys } = engine;
  const breaches = [...(await findFaults({ redis, keys: keys.queue }))];
  const all = await readAll(engine, model);
  const groups = await readQueue({ redis, keys: keys.queue });
  const present = new Set(
    [...groups.values()].flatMap(({ waiting, leases }) => [...waiting.keys(), ...leases.map(idOf)]),
  );
  for (const [name, { leases }] of groups) if (leases.length > LIMIT) breaches.push(`${name} is beyond its limit`);
  for (const { id, fields } of all) {
    if (fields.s === undefined) breaches.push(`${id} is lost`);
    if ((fields.s === 'pending' || fields.owe !== undefined) && !present.has(id)) breaches.push(`${id} waits nowhere`);
  }
  breaches.push(...findBeyondRates(model));
  const lines = readLines(all);
  for (const line of lines) breaches.push(...(await judgeLine(engine, model, line)));
  const stored = await redis.keys(`${keys.prefix}o:*`);
  if (stored.length !== lines.length) breaches.push(`${stored.length} lines are kept for ${lines.length}`);
  return breaches;
}

/** Groups that gave more than a burst of a second and their rate. */
function findBeyondRates({ taken }: Model): string[] {
  return [...taken].flatMap(([name, times]) => {
    const perSecond = Number(name.split(' ')[1]);
    return times.flatMap((first, index) => {
      const most = (last: number) => (perSecond * (1_000 + last - first)) / 1_000 + 1e-3;
      const early = times.slice(index).findIndex((last, more) => more + 1 > most(last));
      return early < 0 ? [] : [`${name} gave ${early + 1} from ${first} on, which is beyond its rate`];
    });
  });
}

async function judgeLine({ redis, keys }: Engine, { clock }: Model, line: readonly Seen[]): Promise<string[]> {
  const [first, ...others] = line;
  if (!first) return [];
  const breaches: string[] = [];
  const stored = await redis.zrange(keys.line(first.receiver.id, first.taskId), '0', '-1');
  if (stored.join() !== line.map(({ id }) => id).join()) breaches.push(`the line of ${first.id} is ${stored.join()}`);
  if (isUntried(first) && dueOf(first) > clock.now)
    breaches.push(`${first.id} waits for nothing until ${dueOf(first)}`);
  for (const one of others) {
    const isEarly = dueOf(one) < (one.joinedAt ?? 0) + timeoutOf(one);
    if (isUntried(one) && !one.isAskedFor && isEarly && !hadItsTurn(one, line))
      breaches.push(`${one.id} goes before its turn`);
  }
  return breaches;
}

/** A reserve takes what is due within so many ms: clocks differ. */
const CLOCKS_DIFFER_MS = 5;

/** What is wrong with deliveries that were reserved just now, and so are sent. `first`: those sent for the first time. */
export async function findEarly(engine: Engine, model: Model, jobs: readonly Reserved[]): Promise<string[]> {
  const lines = readLines(await readAll(engine, model));
  const soon = model.clock.now + CLOCKS_DIFFER_MS;
  return jobs.flatMap(({ id, loaded: row }) => {
    const loaded = row as LoadReply | undefined;
    if (loaded?.kind !== 'loaded') return [`${id} was not loaded`];
    const { delivery } = loaded;
    // A worker that gets it too early puts it back: a lease that had ended left it in the queue when it was settled.
    if (delivery.owedAttempts === 0 && (delivery.nextAttemptAt ?? 0) > soon) return [];
    const line = lines.find((each) => each.some((one) => one.id === id)) ?? [];
    const place = line.findIndex((one) => one.id === id);
    const before = line.slice(0, Math.max(0, place)).map((one): DeliveryId => one.id);
    if (before.length > 0 && !delivery.isReleased) return [`${id} goes before ${before.join()}`];
    const one = line[place];
    const mayGo = one && (delivery.tries > 0 || hadItsTurn(one, line) || mayBeReleased(one, soon));
    if (before.length > 0 && !mayGo) return [`${id} is released for no reason`];
    const wasReleased = one?.fields.rel !== undefined;
    return before.length === 0 && place >= 0 && delivery.isReleased && !wasReleased
      ? [`${id} says that it was released, and is the first`]
      : [];
  });
}

function isUntried({ fields }: Seen): boolean {
  return (fields.n ?? '0') === '0';
}

function dueOf({ fields }: Seen): number {
  return Number(fields.due ?? fields.at);
}

/** It was the first and in work when an earlier one was replayed, and came back unsent. */
function hadItsTurn(one: Seen, line: readonly Seen[]): boolean {
  return line.some((each) => Number(each.fields.from ?? 0) >= dueOf(one));
}

function mayBeReleased(known: Known, now: number): boolean {
  return known.isAskedFor || now >= (known.joinedAt ?? 0) + timeoutOf(known);
}
