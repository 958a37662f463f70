import { escapeHtml } from '@herald/runtime/text';
import {
  ATTEMPT_ERRORS,
  BODY_NOTES,
  type CodeEntry,
  codesOf,
  type CodeTable,
  DELIVERY_REASONS,
  PROBLEMS,
  READINESS_CODES,
} from '@herald/core';
import { type Request, type Response, Router } from 'express';
import { z } from 'zod';
import { admitEverybody, createRouter } from '../http/create-router.ts';
import { type ContentSecurityPolicy, createSecurityHeaders } from '../http/headers.ts';
import { operation, type RouteTable, SENT } from '../http/operation.ts';

/** A style sheet and an icon of this origin, and nothing else. */
export const PAGE_POLICY: ContentSecurityPolicy = {
  'default-src': ["'none'"],
  'style-src': ["'self'"],
  'img-src': ["'self'"],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
};

/** What says the same to everybody may be kept for a while. */
export const PAGE_CACHE_CONTROL = 'public, max-age=300';

/** Answers with JSON, or with a page if the request prefers HTML, as a browser's does. */
function either<Body>(
  req: Pick<Request, 'accepts'>,
  res: Response<Body>,
  json: Body,
  page: string,
): Body | typeof SENT {
  res.set('cache-control', PAGE_CACHE_CONTROL).vary('accept');
  if (req.accepts(['json', 'html']) !== 'html') return json;
  res.type('html').end(page);
  return SENT;
}

/** Where to go from `/`. */
const StartLinks = z
  .strictObject({ links: z.array(z.strictObject({ path: z.string(), title: z.string() })) })
  .meta({ id: 'StartLinks' });

const Entry = {
  code: z.string(),
  meaning: z.string(),
  action: z.string().meta({ description: 'What to do.' }),
};
const ExplainedCode = z.strictObject(Entry).meta({ id: 'ExplainedCode' });
const List = (description: string) => z.array(ExplainedCode).meta({ description });

/** Every stable code of Herald, by where it shows. */
const ErrorCodes = z
  .strictObject({
    problems: z
      .array(z.strictObject({ ...Entry, status: z.int().min(400).max(599) }).meta({ id: 'ExplainedErrorCode' }))
      .meta({ description: 'The `code` of an answer that is an error.' }),
    attempts: List('The `error` of an attempt that got no usable answer.'),
    answers: List('The `bodyNote` of an attempt whose answer was odd. None is a failure.'),
    deliveries: List('The `reason` of a delivery that failed or was canceled.'),
    readiness: List('The `code` of a problem or a warning in `/readyz`.'),
  })
  .meta({ id: 'ErrorCodes', description: 'What each code means, and what to do.' });

/** What the API says of itself. */
export const PAGE_ROUTES: RouteTable<unknown> = {
  tag: 'Documents',
  path: '',
  access: 'public',
  ids: {},
  operations: [
    operation('readStartPage', 'GET /', {
      summary: 'List where to go',
      description: 'A browser gets a page.',
      answer: { status: 200, description: 'The links.', schema: StartLinks, isPageToo: true },
      problems: ['validation_failed'],
      handle(_deps, req, res) {
        return either(req, res, START_LINKS, START_PAGE);
      },
    }),
    operation('listErrorCodes', 'GET /errors', {
      summary: 'List every error code',
      description: 'With what each means, and what to do. A browser gets a page.',
      answer: { status: 200, description: 'The codes.', schema: ErrorCodes, isPageToo: true },
      problems: ['validation_failed'],
      handle(_deps, req, res) {
        return either(req, res, ERROR_CODES, ERRORS_PAGE);
      },
    }),
  ],
};

export function createPageRoutes(): Router {
  const router = Router();
  const paths = PAGE_ROUTES.operations.map(({ path }) => path);
  router.all(paths, createSecurityHeaders(PAGE_POLICY));
  return router.use(createRouter(PAGE_ROUTES, undefined, { judge: admitEverybody }));
}

export const START_LINKS: z.infer<typeof StartLinks> = {
  links: [
    { path: '/docs', title: 'The API, as a page' },
    { path: '/openapi.json', title: 'The API, as an OpenAPI document' },
    { path: '/docs/receiving', title: 'How to receive webhooks' },
    { path: '/console', title: 'The console: receivers and deliveries' },
    { path: '/errors', title: 'What each error code means' },
    { path: '/healthz', title: 'Check that the process lives' },
    { path: '/readyz', title: 'Check that requests can be served' },
  ],
};

const START_ITEMS = START_LINKS.links.map(({ path, title }) => `<li><a href="${path}">${escapeHtml(title)}</a></li>`);

export const PAGES_CSS_PATH = '/docs/pages.css';

/** The pages for people, in the order of the navigation. */
const PAGES = [
  { path: '/', title: 'Herald' },
  { path: '/docs', title: 'API' },
  { path: '/docs/receiving', title: 'Receiving webhooks' },
  { path: '/errors', title: 'Error codes' },
] as const;

/** `/` for people. */
export const START_PAGE = renderPage(
  '/',
  'Herald',
  `<p>Herald delivers signed webhooks for Task transitions.</p>\n<ul>\n${START_ITEMS.join('\n')}\n</ul>`,
);

export const ERROR_CODES: z.infer<typeof ErrorCodes> = {
  problems: codesOf(PROBLEMS)
    .map((code) => ({ code, ...PROBLEMS[code] }))
    .sort((a, b) => a.status - b.status),
  attempts: toList(ATTEMPT_ERRORS),
  answers: toList(BODY_NOTES),
  deliveries: toList(DELIVERY_REASONS),
  readiness: toList(READINESS_CODES),
};

const { problems, attempts, answers, deliveries, readiness } = ERROR_CODES;

/** `/errors` for people. */
export const ERRORS_PAGE = renderPage(
  '/errors',
  'Error codes',
  `<p>Every code is stable. What each means, and what to do about it:</p>
<ul>
<li><a href="#problems">Answers of the API</a>: the <code>code</code> of a problem</li>
<li><a href="#attempts">Attempts</a>: the <code>error</code> of an attempt that got no usable answer</li>
<li><a href="#answers">Answers of endpoints</a>: the <code>bodyNote</code> of an attempt whose answer was odd</li>
<li><a href="#deliveries">Deliveries</a>: the <code>reason</code> of a delivery that was not delivered</li>
<li><a href="#readiness">Readiness</a>: the <code>code</code> of what <code>/readyz</code> shows, for operators</li>
</ul>
<h2 id="problems">Answers of the API</h2>
<p>A problem also has a <code>detail</code>: a sentence about this very request.</p>
${renderCodes('problems', problems)}
<h2 id="attempts">Attempts</h2>
<p>Each of these failures is retried on the <a href="/docs/receiving#retries">schedule</a>.</p>
${renderCodes('attempts', attempts)}
<h2 id="answers">Answers of endpoints</h2>
<p>The status decides: none of these is a failure.</p>
${renderCodes('answers', answers)}
<h2 id="deliveries">Deliveries</h2>
${renderCodes('deliveries', deliveries)}
<h2 id="readiness">Readiness</h2>
${renderCodes('readiness', readiness)}`,
);

type ListedCode = CodeEntry & { readonly code: string; readonly status?: number };

/** A list of codes as HTML. An entry's anchor is the name of the list and the code, such as `attempts-dns_failed`. */
export function renderCodes(list: string, codes: readonly ListedCode[]): string {
  const entries = codes.map(
    ({ code, status, meaning, action }) => `<div id="${list}-${code}">
<dt><code>${code}</code>${status === undefined ? '' : `<span>${status}</span>`}</dt>
<dd>${toHtml(meaning)}</dd>
<dd class="action">${toHtml(action)}</dd>
</div>`,
  );
  return `<dl>\n${entries.join('\n')}\n</dl>`;
}

function toList<Code extends string>(table: CodeTable<Code>) {
  return Object.entries<CodeEntry>(table).map(([code, { meaning, action }]) => ({ code, meaning, action }));
}

/** A whole page. It loads a style sheet and an icon, and runs nothing. */
export function renderPage(path: (typeof PAGES)[number]['path'], heading: string, body: string): string {
  const links = PAGES.map(
    (page) => `<a href="${page.path}"${page.path === path ? ' aria-current="page"' : ''}>${page.title}</a>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(heading)}</title>
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="${PAGES_CSS_PATH}">
</head>
<body>
<nav aria-label="Pages">${links.join('\n')}</nav>
<main>
<h1>${escapeHtml(heading)}</h1>
${body}
</main>
</body>
</html>
`;
}

/** A sentence as HTML: what stands in backticks is code. */
export function toHtml(sentence: string): string {
  return escapeHtml(sentence).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

/** The style of the pages for people. Follows the reader's choice of light or dark. */
export const PAGES_CSS = `:root {
  color-scheme: light dark;
  --text: #1c2128;
  --soft: #57606a;
  --line: #d8dee4;
  --page: #ffffff;
  --box: #f6f8fa;
  --accent: #0b5cad;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e2e6ea;
    --soft: #9ba5b0;
    --line: #343b44;
    --page: #14181d;
    --box: #1d232a;
    --accent: #79b8ff;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0;
  background: var(--page);
  color: var(--text);
  font: 16px/1.55 system-ui, sans-serif;
  font-variant-numeric: tabular-nums;
  overflow-wrap: break-word;
}
nav, main { max-width: 48rem; margin: 0 auto; padding: 0 16px; }
nav { display: flex; flex-wrap: wrap; gap: 4px 24px; padding-top: 16px; padding-bottom: 12px; }
nav a { color: var(--soft); text-decoration: none; padding: 4px 0; border-bottom: 2px solid transparent; }
nav a[aria-current] { color: var(--text); border-color: var(--accent); }
main { padding-bottom: 64px; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 20px 0 12px; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 40px 0 8px; padding-top: 12px; border-top: 1px solid var(--line); }
p, ul, ol { margin: 8px 0; }
ul, ol { padding-left: 24px; }
a { color: var(--accent); }
a:focus-visible, pre:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
code, pre { font: 0.875em/1.5 ui-monospace, monospace; }
code { background: var(--box); border-radius: 4px; padding: 1px 4px; }
pre { background: var(--box); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; overflow-x: auto; }
pre code { background: none; padding: 0; font-size: 1em; }
dl { margin: 12px 0; }
dl > div { padding: 10px 0; border-top: 1px solid var(--line); scroll-margin-top: 8px; }
dl > div:target { background: var(--box); box-shadow: -8px 0 0 var(--box), 8px 0 0 var(--box); }
dt { font-weight: 600; }
dt span { color: var(--soft); font-weight: 400; margin-left: 8px; }
dd { margin: 2px 0 0; }
dd.action { color: var(--soft); }
table { border-collapse: collapse; margin: 12px 0; }
th, td { text-align: left; padding: 4px 24px 4px 0; border-bottom: 1px solid var(--line); }
.tabs { display: flex; flex-wrap: wrap; gap: 4px 20px; margin: 16px 0 8px; padding: 0 0 8px; border: 0; border-bottom: 1px solid var(--line); }
.tabs legend { float: left; width: auto; margin-right: 20px; padding: 0; color: var(--soft); }
.tabs label { cursor: pointer; }
.tabs input { accent-color: var(--accent); }
.tab { display: none; }
${['Node', 'Python', 'Go', 'PHP', 'Ruby'].map((name) => `main:has(#in-${name}:checked) #tab-${name}`).join(', ')} { display: block; }
.tab pre { max-height: 32rem; overflow-y: auto; }
.tab summary { padding: 4px 0; cursor: pointer; }
@media print { .tab { display: block; } }
@media (min-width: 44rem) {
  dl > div { display: grid; grid-template-columns: 14rem 1fr; column-gap: 16px; }
  dd { grid-column: 2; }
}
`;
