import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { type Request, Router } from 'express';
import { refuseOtherMethods } from '../http/create-router.ts';
import { type ContentSecurityPolicy, createSecurityHeaders } from '../http/headers.ts';
import { refuseQuery } from '../http/read-input.ts';
import { atRoute } from '../http/request-state.ts';
import { createOpenApiDocument, type DocumentPart } from './create-document.ts';
import { PAGE_CACHE_CONTROL, PAGE_POLICY, PAGES_CSS, PAGES_CSS_PATH } from './pages.ts';
import { renderReceivingPage, ORIGIN } from './receiving-page.ts';
import type { Kit } from './kit.ts';
import { HttpFault } from '../http/problem.ts';

const require = createRequire(import.meta.url);
const FOLDER = dirname(require.resolve('swagger-ui-dist/package.json'));

const NO_FILE = 'there is no such file of a kit; /docs/receiving names those of this version';

/** The files that the page loads. */
const ASSETS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

/** No inline code, no other origin, no form, no frame. The style sheet embeds its icons as `data:`. */
const POLICY: ContentSecurityPolicy = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': ["'self'"],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
};

/** What a `Host` header may be for a page to name it. */
const HOST = /^[\w.[\]:-]+$/;

export type DocumentOptions = {
  /** Undefined: they are not built. */
  readonly kit?: Kit | undefined;
  /** Where people reach the service. Undefined: at the host that they ask. */
  readonly publicUrl?: string | undefined;
};

/** `/openapi.json`: the document. `/docs`: a page that shows it. `/docs/receiving` and `/kit`: for receivers. */
export function createDocumentRoutes(part: DocumentPart, { kit, publicUrl }: DocumentOptions = {}): Router {
  const router = Router();
  const originOf = (req: Request): string => {
    const host = req.get('host') ?? '';
    return publicUrl ?? (HOST.test(host) ? `${req.protocol}://${host}` : 'https://herald.example.com');
  };
  router.use(['/openapi.json', '/docs', '/kit'], refuseQuery, createSecurityHeaders(POLICY), (_req, res, next) => {
    res.set('cache-control', PAGE_CACHE_CONTROL);
    next();
  });
  // It runs nothing.
  router.use('/docs/receiving', createSecurityHeaders(PAGE_POLICY));
  const texts: [path: string, type: string, render: () => string][] = [
    ['/openapi.json', 'application/json', () => JSON.stringify(createOpenApiDocument(part))],
    ['/docs', 'html', () => DOCS_HTML],
    ['/docs/page.css', 'css', () => DOCS_CSS],
    ['/docs/page.js', 'js', () => DOCS_SCRIPT],
  ];
  if (part !== 'operators')
    texts.push(['/docs/receiving', 'html', () => renderReceivingPage(kit)], [PAGES_CSS_PATH, 'css', () => PAGES_CSS]);
  for (const [path, type, render] of texts) {
    // Rendered when somebody first asks: few processes are ever asked, and all have to start.
    let text: string | undefined;
    router
      .route(path)
      .get(atRoute(path), (req, res) => {
        text ??= render();
        // Only the page for receivers has it.
        res.type(type).send(text.replaceAll(ORIGIN, originOf(req)));
      })
      .all(refuseOtherMethods('GET'));
  }
  if (part !== 'operators') {
    router
      .route('/kit/:name')
      .get(atRoute('/kit/{name}'), (req, res) => {
        const file = kit?.files.get(req.params.name);
        if (!file) throw new HttpFault('route_not_found', NO_FILE);
        // The name alone would say `application/octet-stream`.
        res.attachment(req.params.name).type(file.type).send(file.bytes);
      })
      .all(refuseOtherMethods('GET'));
  }
  for (const name of ASSETS) {
    router
      .route(`/docs/${name}`)
      .get(atRoute(`/docs/${name}`), (req, res) => {
        // It could only fail.
        delete req.headers['if-match'];
        delete req.headers['if-unmodified-since'];
        res.sendFile(name, { root: FOLDER, cacheControl: false, acceptRanges: false });
      })
      .all(refuseOtherMethods('GET'));
  }
  return router;
}

// Requests are tried with a key that the reader pastes. The page keeps it in memory alone.

const DOCS_HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Herald</title>
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="stylesheet" href="/docs/page.css">
  </head>
  <body>
    <div id="page"></div>
    <noscript>This page needs JavaScript. The document itself is at <a href="/openapi.json">/openapi.json</a>.</noscript>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/page.js"></script>
  </body>
</html>
`;

const DOCS_SCRIPT = `const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
// A request is tried at this origin, whatever server the document names.
SwaggerUIBundle({
  url: '/openapi.json',
  requestInterceptor: (request) => {
    const { pathname, search } = new URL(request.url, location.origin);
    request.url = location.origin + pathname + search;
    return request;
  },
  dom_id: '#page',
  deepLinking: true,
  persistAuthorization: false,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
});
`;

const DOCS_CSS = `body { margin: 0; }
html:not(.dark-mode) body { background: #fafafa; }
.swagger-ui .servers, .swagger-ui .servers-title, .swagger-ui .response-col_links { display: none; }
html.dark-mode .swagger-ui .headers td { color: #e4e6e6; }
`;
