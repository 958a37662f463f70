import { z } from 'zod';
import { escapeHtml } from './html.ts';
import { renderPage } from './render-page.ts';

/** Where to go from `/`. */
export const StartLinks = z
  .strictObject({ links: z.array(z.strictObject({ path: z.string(), title: z.string() })) })
  .meta({ id: 'StartLinks' });

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

const items = START_LINKS.links.map(({ path, title }) => `<li><a href="${path}">${escapeHtml(title)}</a></li>`);

/** `/` for people. */
export const START_PAGE = renderPage(
  '/',
  'Herald',
  `<p>Herald delivers signed webhooks for Task transitions.</p>\n<ul>\n${items.join('\n')}\n</ul>`,
);
