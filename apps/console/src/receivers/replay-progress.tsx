import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { api, type Schemas } from '../api/client.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Problem } from '../ui/problem.tsx';
import { Url } from '../ui/url.tsx';

/** A replay moves faster than anything else on the page. */
const POLL_MS = 1_000;

const SETTLE_POLL_MS = 2_000;
const PAGE = 100;

/** Whether deliveries of a replay that has ended are still to be sent. Undefined: not known yet. */
function useIsPending(replay: Schemas['Replay'] | undefined) {
  const isOfPending = replay?.statuses.includes('pending') ?? false;
  const query = useQuery({
    queryKey: ['replay-rest', replay?.id],
    queryFn: async ({ signal }) => {
      const { receiverId = '', since = '', until = '', event } = replay ?? {};
      const range = { status: 'pending', since, until, ...(event !== undefined && { event }) } as const;
      const params = { path: { id: receiverId }, query: { ...range, limit: isOfPending ? PAGE : 1 } };
      const { deliveries } = await api.GET('/api/public/webhooks/{id}/deliveries', { params, signal });
      // What was pending stays so where the attempt fails.
      return deliveries.some(({ owedAttempts = 0 }) => !isOfPending || owedAttempts > 0);
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
export function ReplayProgress({ id, receivers, mayStop, onHide }: ReplayProgressProps) {
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
