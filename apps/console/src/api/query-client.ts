import { MutationCache, QueryCache, QueryClient } from '@tanstack/preact-query';
import { ApiProblem } from './api-problem.ts';
import { isTransient, judgeWait, POLL_MS, REREAD_MS } from './polling.ts';

/**
 * Reads again while the page is visible, and on and on while the service is away.
 * @param onRefused hears of each answer that the token is none (any more)
 */
export function createQueryClient(onRefused: (problem: ApiProblem) => void): QueryClient {
  const onError = (error: unknown) => {
    if (error instanceof ApiProblem && error.status === 401) onRefused(error);
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        // The service may be on this machine, which a browser without a network doesn't know.
        networkMode: 'always',
        staleTime: POLL_MS / 2,
        refetchInterval: REREAD_MS,
        retry: (_failures, error) => isTransient(error),
        retryDelay: judgeWait,
      },
      mutations: { networkMode: 'always', retry: false },
    },
  });
}
