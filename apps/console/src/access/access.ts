import { useQuery } from '@tanstack/preact-query';
import type { ApiProblem } from '../api/api-problem.ts';
import { api } from '../api/client.ts';
import { createStore } from '../state/create-store.ts';

/** It changes with the token alone, whose end the service tells by itself. */
const LOOK_AGAIN_MS = 300_000;

/** What the token of this tab may do. */
export function useAccess() {
  return useQuery({
    queryKey: ['access'],
    queryFn: ({ signal }) => api.GET('/api/public/access', { signal }),
    refetchInterval: LOOK_AGAIN_MS,
    staleTime: LOOK_AGAIN_MS,
  });
}

/** Whether an operator has come by a link that may change something. */
export function useMayLock(): boolean {
  const { data } = useAccess();
  return data?.operator === true && !data.readOnly;
}

/** Whether this tab may change something. Undefined answers are no: a button that appears late is better than one that fails. */
export function useMayWrite(): boolean {
  return useAccess().data?.readOnly === false;
}

/** Set when the service has refused the token of this tab: it is wrong, or has ended. */
export const refusal = createStore<ApiProblem | undefined>(undefined);
