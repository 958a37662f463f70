import { askEarly } from './session/early-answer.ts';
import { session } from './session/session.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/shell.css';
import './styles/tables.css';
import './styles/pages.css';

// The first program of a page, and a small one: the rest is on its way beside it.

// What is in the address gets into the history, and into the eyes of whoever stands behind: it goes first.
session.takeFromAddress();
const token = session.get();
if (token !== undefined) askEarly(location.pathname, token);
void import('./main.tsx');
