import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { api } from '../api/client.ts';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Problem } from '../ui/problem.tsx';

/** A replay moves faster than anything else on the page. */
const POLL_MS = 1_000;

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
  const stop = useMutation({
    mutationFn: () => api.DELETE('/api/public/replays/{id}', { params: { path: { id } } }),
    onSuccess: (stopped) => {
      queries.setQueryData(['replay', id], stopped);
    },
  });
  return (
    <section class="replay" aria-label={texts.title}>
      <Loaded of={asked}>
        {({ status, seen, total, replayed }) => (
          <>
            <div class="replay-head">
              <strong>{texts[status]}</strong>
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
            {stop.error && <Problem error={stop.error} />}
          </>
        )}
      </Loaded>
    </section>
  );
}
