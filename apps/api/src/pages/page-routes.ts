import { Router, type Request, type Response } from 'express';
import { createSecurityHeaders, type ContentSecurityPolicy } from '../http/judge-headers.ts';
import { admitEverybody, createRouter } from '../http/create-router.ts';
import { operation, SENT, type RouteTable } from '../http/operation.ts';
import { ErrorCodes, ERROR_CODES } from './error-codes.ts';
import { ERRORS_PAGE } from './errors-page.ts';
import { START_LINKS, START_PAGE, StartLinks } from './start-page.ts';

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

/** What the API says of itself. */
export const PAGE_ROUTES: RouteTable<unknown> = {
  tag: 'Documents',
  path: '',
  access: 'public',
  ids: {},
  operations: [
    operation('readStartPage', 'GET /', {
      summary: 'List where to go',
      answer: { status: 200, description: 'The links.', schema: StartLinks, isPageToo: true },
      problems: ['validation_failed'],
      handle(_deps, req, res) {
        return either(req, res, START_LINKS, START_PAGE);
      },
    }),
    operation('listErrorCodes', 'GET /errors', {
      summary: 'List every error code',
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
