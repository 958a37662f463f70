import { askEarly } from './session/early-answer.ts';
import { session, tabs } from './session/session.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/shell.css';
import './styles/tables.css';
import './styles/pages.css';

// The first program of a page, and a small one: the rest is on its way beside it.

void start();

async function start() {
  // What is in the address gets into the history, and into the eyes of whoever stands behind: it goes first.
  const isNew = session.takeFromAddress();
  const isConsole = location.pathname.startsWith('/console');
  if (isConsole && session.get() === undefined) {
    const token = await tabs.ask();
    if (token !== undefined) session.set(token);
  }
  const token = session.get();
  if (token !== undefined) {
    if (isNew) tabs.offer(token);
    askEarly(location.pathname, token);
  }
  await import('./main.tsx');
}
