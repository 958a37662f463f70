import type { UseQueryResult } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { failedLook } from '../api/activity.ts';
import { ApiProblem } from '../api/api-problem.ts';
import { useStore } from '../state/create-store.ts';
import { texts } from '../texts/texts.ts';
import { clockTime } from '../time/time-text.ts';
import { Problem } from './problem.tsx';

type Asked<T> = Pick<
  UseQueryResult<T>,
  'data' | 'error' | 'status' | 'failureCount' | 'failureReason' | 'dataUpdatedAt'
>;

type LoadedProps<T> = {
  readonly of: Asked<T>;
  readonly children: (data: T) => ComponentChildren;
};

/** What was asked for, once it is there. What was there before stays, with its age, while the service is away. */
export function Loaded<T>({ of: asked, children }: LoadedProps<T>) {
  const { data, error, status, failureCount, failureReason, dataUpdatedAt } = asked;
  const look = useStore(failedLook);
  // Never asked again: it is gone, or not to be seen.
  if (status === 'error' && error instanceof ApiProblem && error.status < 500) return <Problem error={error} />;
  if (data !== undefined) {
    return (
      <>
        {failureCount > 0 ? (
          <Stale since={dataUpdatedAt} reason={failureReason} />
        ) : (
          look && <Stale since={Math.max(dataUpdatedAt, look.since)} reason={look.reason} />
        )}
        {children(data)}
      </>
    );
  }
  if (failureCount > 0)
    return (
      <p class="notice" role="status">
        {texts.tryingAgain}
      </p>
    );
  return (
    <div class="loading" role="status" aria-label={texts.loading}>
      <div class="skeleton" />
      <div class="skeleton" />
      <div class="skeleton" />
    </div>
  );
}

function Stale({ since, reason }: { readonly since: number; readonly reason: unknown }) {
  const why = reason instanceof ApiProblem && reason.status === 429 ? texts.slower : texts.awayTryingAgain;
  return (
    <p class="notice stale" role="status">
      {texts.asOf(clockTime(since))}; {why}
    </p>
  );
}
