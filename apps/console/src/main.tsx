import { QueryClientProvider, MutationCache, QueryCache, QueryClient } from '@tanstack/preact-query';
import { render } from 'preact';
import { refusal } from './access/access.ts';
import { ApiProblem } from './api/api-problem.ts';
import { watchReader, isTransient, judgeWait, POLL_MS, REREAD_MS } from './api/polling.ts';
import { readUnlessLeaving } from './receivers/queries.ts';
import { Console } from './shell/console.tsx';
import { showAccent } from './texts/brand.ts';
import { createLazy } from './ui/create-lazy.tsx';

const Admin = createLazy(() => import('./admin/admin.tsx').then((module) => module.Admin));

const isAdmin = location.pathname.startsWith('/admin');
const queryClient = createQueryClient((problem) => {
  // Operators sign in to the browser, which asks them again.
  if (!isAdmin) refusal.set(problem);
});
showAccent();
watchReader();
const root = document.getElementById('root');
if (root) {
  render(<QueryClientProvider client={queryClient}>{isAdmin ? <Admin /> : <Console />}</QueryClientProvider>, root);
}

/**
 * Reads again while the page is visible, and on and on while the service is away.
 * @param onRefused hears of each answer that the token is none (any more)
 */
function createQueryClient(onRefused: (problem: ApiProblem) => void): QueryClient {
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
        persister: readUnlessLeaving,
        retry: (_failures, error) => isTransient(error),
        retryDelay: judgeWait,
      },
      mutations: { networkMode: 'always', retry: false },
    },
  });
}
