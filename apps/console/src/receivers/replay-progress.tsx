import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { api, type Schemas } from '../api/client.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Problem } from '../ui/problem.tsx';

/** A replay moves faster than anything else on the page. */
const POLL_MS = 1_000;

const SETTLE_POLL_MS = 2_000;

/** Whether deliveries of the time range of a replay that has ended are still pending. Undefined: not known yet. */
function useIsPending(replay: Schemas['Replay'] | undefined) {
  const query = useQuery({
    queryKey: ['replay-rest', replay?.id],
    queryFn: ({ signal }) => {
      const { receiverId = '', since = '', until = '' } = replay ?? {};
      const params = { path: { id: receiverId }, query: { status: 'pending', since, until, limit: 1 } } as const;
      return api.GET('/api/public/webhooks/{id}/deliveries', { params, signal });
    },
    enabled: replay?.status === 'done',
    refetchInterval: ({ state }) => (state.data?.deliveries.length === 0 ? false : SETTLE_POLL_MS),
  });
  return query.data && query.data.deliveries.length > 0;
}

type ReplayProgressProps = { readonly id: string; readonly mayStop: boolean; readonly onHide: () => void };

/** How far a replay is, and its end. */
export function ReplayProgress({ id, mayStop, onHide }: ReplayProgressProps) {
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
        {({ status, seen, total, replayed, waiting }) => (
          <>
            <div class="replay-head">
              <strong>{status === 'done' && isPending !== false ? texts.queued : texts[status]}</strong>
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
