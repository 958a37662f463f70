import { QueryClientProvider } from '@tanstack/preact-query';
import { render } from 'preact';
import { createQueryClient } from './api/query-client.ts';
import { refusal } from './access/refusal.ts';
import { session } from './session/session.ts';
import { Console } from './shell/console.tsx';
import { createLazy } from './ui/create-lazy.tsx';
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/shell.css';
import './styles/tables.css';
import './styles/pages.css';

const Admin = createLazy(() => import('./admin/admin.tsx').then((module) => module.Admin));

// Before anything else: what is in the address gets into the history, and into the eyes of whoever stands behind.
session.takeFromAddress();
const isAdmin = location.pathname.startsWith('/admin');
const queryClient = createQueryClient((problem) => {
  // Operators sign in to the browser, which asks them again.
  if (!isAdmin) refusal.set(problem);
});
const root = document.getElementById('root');
if (root) {
  render(<QueryClientProvider client={queryClient}>{isAdmin ? <Admin /> : <Console />}</QueryClientProvider>, root);
}
