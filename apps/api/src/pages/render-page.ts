import { escapeHtml } from './html.ts';

export const PAGES_CSS_PATH = '/docs/pages.css';

/** The pages for people, in the order of the navigation. */
const PAGES = [
  { path: '/', title: 'Herald' },
  { path: '/docs', title: 'API' },
  { path: '/docs/receiving', title: 'Receiving webhooks' },
  { path: '/errors', title: 'Error codes' },
] as const;

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
