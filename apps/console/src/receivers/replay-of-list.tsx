import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';
import { useMayWrite } from '../access/access.ts';
import { api, type Schemas, serverNow } from '../api/client.ts';
import { newIdempotencyKey } from '../api/create-api.ts';
import { Choice, type Result, ResultChoice } from '../deliveries/choice.tsx';
import { type Filter, sinceOf, TASK_EVENTS } from '../deliveries/list-state.ts';
import { deliveryTexts } from '../texts/delivery-texts.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { showsUtc } from '../time/time-text.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Problem } from '../ui/problem.tsx';
import { Url } from '../ui/words.tsx';
import { fromLocalInput, judgeReplay, toLocalInput } from './form-input.ts';
import { useChange } from './queries.ts';

type ReplayOfListProps = {
  /** Those of the list. */
  readonly receivers: readonly Schemas['Receiver'][];
  readonly children: (open: OpenReplay) => ComponentChildren;
};

/** Asks for a replay of what matches a filter; of what was accepted since a time (epoch ms), if that is no range. */
export type OpenReplay = (filter: Filter, since?: number) => void;

/** Replays of a list of deliveries: their dialog, and how far each is, which lives in the address. */
export function ReplayOfList({ receivers, children }: ReplayOfListProps) {
  const [query, setQuery] = useSearchParams();
  const [wanted, setWanted] = useState<{ readonly filter: Filter; readonly since?: number | undefined }>();
  const mayWrite = useMayWrite();
  const ids = (query.get('replay') ?? '').split('.').filter((id) => id !== '');
  const show = (shown: readonly string[]) => {
    setQuery(
      (former) => {
        const next = new URLSearchParams(former);
        if (shown.length === 0) next.delete('replay');
        else next.set('replay', shown.join('.'));
        return next;
      },
      { replace: true },
    );
  };
  return (
    <>
      {ids.map((id) => (
        <ReplayProgress
          key={id}
          id={id}
          receivers={receivers}
          mayStop={mayWrite}
          onHide={() => {
            show(ids.filter((each) => each !== id));
          }}
        />
      ))}
      {children((filter, since) => {
        setWanted({ filter, since });
      })}
      {wanted && (
        <ReplayDialog
          receivers={receivers}
          {...wanted}
          onClose={() => {
            setWanted(undefined);
          }}
          onStarted={show}
        />
      )}
    </>
  );
}

const STATUSES = ['failed', 'canceled', 'delivered', 'pending'] as const;
type Status = (typeof STATUSES)[number];
const DAY_MS = 86_400_000;
/** Nothing pending is older. */
const OLDEST_MS = 14 * DAY_MS;
const PAGE = 100;
/** Deliveries that are counted before: each 20 of them cost a request of the key. */
const COUNTED = 500;

type Receiver = Schemas['Receiver'];
/** What is asked for of each receiver. */
type Asked = Omit<Schemas['RequestReplay'], 'status'> & { readonly status: readonly Status[] };
type Count = { readonly id: string; readonly count: number; readonly isMore: boolean };

/** How many deliveries of a receiver a replay would send, as far as it is worth the reading. */
async function count(receiver: Receiver, { status: statuses, ...filter }: Asked, signal: AbortSignal): Promise<Count> {
  const { id, health, pausedAt } = receiver;
  // What is due goes by itself. Where it is held back, one of it is tried at once.
  const isHeld = health.state === 'paused' && pausedAt === undefined;
  let [found, due, looked] = [0, 0, 0];
  for (const status of statuses) {
    let cursor: string | undefined;
    do {
      const query = { ...filter, status, limit: PAGE, ...(cursor !== undefined && { cursor }) };
      const page = await api.GET('/api/public/webhooks/{id}/deliveries', { params: { path: { id }, query }, signal });
      // Tests are never sent again; what waits for its turn, or has an attempt coming, needs none.
      const sent = page.deliveries.filter(
        ({ event, waitingFor, owedAttempts = 0, erasedAt }) =>
          event !== 'webhook.test' && waitingFor === undefined && erasedAt === undefined && owedAttempts === 0,
      );
      const now = serverNow();
      const isDue = ({ nextAttemptAt }: Schemas['Delivery']) =>
        nextAttemptAt !== null && Date.parse(nextAttemptAt) <= now;
      due += sent.filter(isDue).length;
      found += sent.filter((delivery) => !isDue(delivery)).length;
      looked += PAGE;
      if (page.nextCursor !== null && looked >= COUNTED) return { id, count: found, isMore: true };
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }
  return { id, count: found === 0 && isHeld && due > 0 ? 1 : found, isMore: false };
}

function useCounts(receivers: readonly Receiver[], asked: Asked | undefined) {
  return useQuery({
    queryKey: ['count', receivers.map(({ id }) => id), asked],
    queryFn: ({ signal }) =>
      Promise.all(asked === undefined ? [] : receivers.map((receiver) => count(receiver, asked, signal))),
    enabled: asked !== undefined,
    refetchInterval: false,
    staleTime: 10_000,
  });
}

type ReplayDialogProps = {
  /** Those to which it may go: each gets a replay of its own. */
  readonly receivers: readonly Receiver[];
  /** What the dialog proposes at first. */
  readonly filter: Filter;
  readonly since?: number | undefined;
  readonly onClose: () => void;
  readonly onStarted: (replayIds: readonly string[]) => void;
};

/** Starts a replay: of a time range, or of all that match a filter. It says before how many that are. */
function ReplayDialog({ receivers, filter, since: firstSince, onClose, onStarted }: ReplayDialogProps) {
  const texts = receiverTexts.replay;
  const isPendingOnly = filter.status === 'pending';
  const [since, setSince] = useState(() => {
    const ofRange = sinceOf(filter.range, serverNow());
    const first = firstSince ?? (ofRange === undefined ? undefined : Date.parse(ofRange));
    return toLocalInput(first ?? Date.now() - (Object.keys(filter).length > 0 ? OLDEST_MS : DAY_MS));
  });
  const [until, setUntil] = useState('');
  const [statuses, setStatuses] = useState<readonly Status[]>(
    filter.status === undefined ? ['failed', 'canceled'] : [filter.status],
  );
  const [event, setEvent] = useState(filter.event === 'webhook.test' ? undefined : filter.event);
  const [result, setResult] = useState<Result>(filter);
  const [key] = useState(newIdempotencyKey);
  const problem = judgeReplay(since, until, statuses);
  const wanted = receivers.filter(({ id, enabled }) => enabled && (filter.receiver ?? id) === id);
  const end = fromLocalInput(until);
  const asked: Asked | undefined =
    problem === undefined
      ? {
          since: fromLocalInput(since) ?? '',
          status: statuses,
          ...(end !== undefined && { until: end }),
          ...(event !== undefined && { event }),
          ...(result.error !== undefined && { error: result.error }),
          ...(result.http !== undefined && { httpStatus: result.http }),
        }
      : undefined;
  const counts = useCounts(wanted, asked);
  const some = (counts.data ?? []).filter(({ count: found, isMore }) => found > 0 || isMore);
  const total = some.reduce((sum, each) => sum + each.count, 0);
  const isMore = some.some((each) => each.isMore);
  // Whoever doesn't wait for the count gets what it would have counted.
  const chosen = (counts.data === undefined ? wanted : some).map(({ id }) => id);
  const mayStart = asked !== undefined && chosen.length > 0;
  const start = useChange(async () => {
    const started: string[] = [];
    for (const id of chosen) {
      const params = { path: { id }, header: { 'Idempotency-Key': `${key}${id.slice(-6)}` } };
      const body = { since: '', ...asked, status: [...statuses] };
      started.push((await api.POST('/api/public/webhooks/{id}/replay', { params, body })).id);
      // What has begun is shown, even if the next one is refused.
      onStarted(started);
    }
    onClose();
  });
  const submit = (submitted: SubmitEvent) => {
    submitted.preventDefault();
    if (mayStart) start.mutate(undefined);
  };
  return (
    <Dialog title={isPendingOnly ? texts.pendingTitle : texts.title} onClose={onClose}>
      <form onSubmit={submit}>
        <p>{statuses.includes('pending') ? texts.introPending : texts.intro}</p>
        <div class="pair">
          <Field label={texts.since} hint={showsUtc.get() ? texts.inUtc : texts.inZone}>
            {(ids) => (
              <input
                {...ids}
                type="datetime-local"
                autoFocus
                value={since}
                onInput={({ currentTarget }) => {
                  setSince(currentTarget.value);
                }}
              />
            )}
          </Field>
          <Field label={texts.until} hint={texts.untilHint}>
            {(ids) => (
              <input
                {...ids}
                type="datetime-local"
                value={until}
                onInput={({ currentTarget }) => {
                  setUntil(currentTarget.value);
                }}
              />
            )}
          </Field>
        </div>
        <fieldset>
          <legend>{texts.statuses}</legend>
          {STATUSES.map((status) => (
            <label class="check">
              <input
                type="checkbox"
                checked={statuses.includes(status)}
                onChange={({ currentTarget: { checked } }) => {
                  setStatuses(STATUSES.filter((each) => (each === status ? checked : statuses.includes(each))));
                }}
              />{' '}
              {deliveryTexts.statuses[status]}
            </label>
          ))}
        </fieldset>
        <div class="pair">
          <Choice
            label={deliveryTexts.filters.event}
            any={deliveryTexts.filters.anyEvent}
            value={event}
            options={TASK_EVENTS.map((name) => [name, name])}
            onChoose={(name) => {
              setEvent(TASK_EVENTS.find((each) => each === name));
            }}
          />
          <ResultChoice result={result} onChoose={setResult} />
        </div>
        {problem !== undefined && (
          <p class="hint hint-bad" role="alert">
            {problem}
          </p>
        )}
        <p class="count" role="status">
          {problem !== undefined
            ? ''
            : counts.data === undefined
              ? texts.counting
              : texts.count(total, isMore, receivers.length > 1 ? some.length : undefined)}
          {wanted.length < receivers.length && filter.receiver === undefined && ` ${texts.leavesOut}`}
        </p>
        {counts.error && <Problem error={counts.error} />}
        {start.error && <Problem error={start.error} />}
        <footer class="dialog-foot">
          <button type="submit" class="button button-main" disabled={!mayStart || start.isPending}>
            {isPendingOnly ? texts.submitPending : texts.submit}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

/** A replay moves faster than anything else on the page. */
const POLL_MS = 1_000;

const SETTLE_POLL_MS = 2_000;
const REST_PAGE = 100;

/** Whether deliveries of a replay that has ended are still to be sent. Undefined: not known yet. */
function useIsPending(replay: Schemas['Replay'] | undefined) {
  const [isOfPending, isOfDelivered] = (['pending', 'delivered'] as const).map((status) =>
    replay?.statuses.includes(status),
  );
  const query = useQuery({
    queryKey: ['replay-rest', replay?.receiverId, replay?.id],
    queryFn: async ({ signal }) => {
      const { receiverId = '', since = '', until = '', event } = replay ?? {};
      const range = { since, until, limit: REST_PAGE, ...(event !== undefined && { event }) };
      const read = (status: Status) => {
        const params = { path: { id: receiverId }, query: { ...range, status } };
        return api.GET('/api/public/webhooks/{id}/deliveries', { params, signal });
      };
      const pages = await Promise.all(
        (isOfDelivered ? (['pending', 'delivered'] as const) : (['pending'] as const)).map(read),
      );
      // What was pending or delivered stays so, whatever the attempt comes to.
      return pages
        .flatMap(({ deliveries }) => deliveries)
        .some(({ status, owedAttempts = 0 }) => owedAttempts > 0 || (status === 'pending' && !isOfPending));
    },
    enabled: replay?.status === 'done',
    refetchInterval: ({ state }) => (state.data === false ? false : SETTLE_POLL_MS),
  });
  return query.data;
}

type ReplayProgressProps = {
  readonly id: string;
  /** Where there are several, it says to which it goes. */
  readonly receivers: readonly Pick<Schemas['Receiver'], 'id' | 'url'>[];
  readonly mayStop: boolean;
  readonly onHide: () => void;
};

/** How far a replay is, and its end. */
function ReplayProgress({ id, receivers, mayStop, onHide }: ReplayProgressProps) {
  const texts = receiverTexts.replay;
  const queries = useQueryClient();
  const asked = useQuery({
    queryKey: ['replay', id],
    queryFn: ({ signal }) => api.GET('/api/public/replays/{id}', { params: { path: { id } }, signal }),
    refetchInterval: ({ state }) => (state.data === undefined || state.data.status === 'running' ? POLL_MS : false),
  });
  const isPending = useIsPending(asked.data);
  const stop = useMutation({
    mutationFn: () => api.DELETE('/api/public/replays/{id}', { params: { path: { id } } }),
    onSuccess: (stopped) => {
      queries.setQueryData(['replay', id], stopped);
    },
  });
  return (
    <section class="replay" aria-label={texts.title}>
      <Loaded of={asked}>
        {({ status, seen, total, replayed, waiting, receiverId }) => (
          <>
            <div class="replay-head">
              <strong>{status === 'done' && isPending !== false ? texts.queued : texts[status]}</strong>
              {receivers.length > 1 && (
                <Url url={receivers.find((each) => each.id === receiverId)?.url ?? receiverId} />
              )}
              <span class="quiet">
                {texts.progress(seen, total)}; {texts.replayed(replayed)}
              </span>
              {status === 'running' && mayStop && (
                <button
                  type="button"
                  class="button"
                  disabled={stop.isPending}
                  onClick={() => {
                    stop.mutate();
                  }}
                >
                  {texts.stop}
                </button>
              )}
              {status !== 'running' && (
                <button type="button" class="link-button" onClick={onHide}>
                  {texts.hide}
                </button>
              )}
            </div>
            <progress
              aria-label={texts[status]}
              max={Math.max(1, total)}
              value={status === 'done' ? Math.max(1, total) : seen}
            />
            {waiting !== null && (
              <p class="notice" role="status">
                {texts.waiting} {waiting.detail}
              </p>
            )}
            {stop.error && <Problem error={stop.error} />}
          </>
        )}
      </Loaded>
    </section>
  );
}
