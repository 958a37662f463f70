import { QueryClientProvider } from '@tanstack/preact-query';
import { render } from 'preact';
import { refusal } from './access/access.ts';
import { watchReader } from './api/polling.ts';
import { createQueryClient } from './api/query-client.ts';
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
