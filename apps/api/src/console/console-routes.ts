import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Brand } from '@herald/config/console-brand';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { refuseOtherMethods } from '../http/create-router.ts';
import { type ContentSecurityPolicy, createSecurityHeaders } from '../http/headers.ts';
import { HttpFault } from '../http/problem.ts';
import { atRoute } from '../http/request-state.ts';
import { escapeHtml } from '@herald/runtime/text';

/** A file under this path has a hash of its content in its name. */
const ASSETS = '/console/assets';
const FOR_EVER = 'public, max-age=31536000, immutable';
/** The best first. */
const ENCODINGS = ['br', 'gzip'] as const;
const NOT_BUILT = 'the console is not built; type npm run build, then start the API again';

/** This origin alone, and nothing inline. */
function policyOf(frameAncestors: readonly string[]): ContentSecurityPolicy {
  return {
    'default-src': ["'none'"],
    'script-src': ["'self'"],
    'style-src': ["'self'"],
    'img-src': ["'self'", 'data:'],
    'connect-src': ["'self'"],
    'font-src': ["'self'"],
    'base-uri': ["'none'"],
    'form-action': ["'none'"],
    'frame-ancestors': frameAncestors.length > 0 ? frameAncestors : ["'none'"],
  };
}

/** The files that the console loads, for customers and operators. `files`: undefined when it is not built. */
export function createConsoleAssets(files: BuiltFiles | undefined): Router {
  const router = Router();
  router
    .route(`${ASSETS}/{*path}`)
    .all(atRoute(`${ASSETS}/{*path}`))
    .get(createSecurityHeaders(policyOf([])), (req, res) => {
      const file = files?.get(req.path);
      // Nobody may take the page for a file of a former build.
      if (!file) throw new HttpFault('route_not_found', files ? 'the console has no such file' : NOT_BUILT);
      res.set('cache-control', FOR_EVER);
      sendFile(file, req, res);
    })
    .all(refuseOtherMethods('GET'));
  return router;
}

export type ConsoleOptions = {
  readonly frameAncestors: readonly string[];
  /** Undefined: it shows itself as Herald. */
  readonly brand: Brand | undefined;
};

/** `/console`, and everything below it. Mount it after its files. */
export function createConsoleRoutes(built: BuiltFiles | undefined, { frameAncestors, brand }: ConsoleOptions): Router {
  const files = built && brand ? withBrand(built, brand) : built;
  const router = Router();
  router
    .route('/console{/*path}')
    .all(atRoute('/console{/*path}'))
    .get(...sendPage(files, frameAncestors))
    .all(refuseOtherMethods('GET'));
  return router;
}

/**
 * `/console` at the operators' port: leads to the port of customers, where a link that an operator has made opens.
 * Browsers take the fragment, and with it the token, along.
 * @param publicUrl undefined: the host that is called, at the other port
 */
export function createConsoleRedirect({ publicUrl, port }: { publicUrl: string | undefined; port: number }): Router {
  const router = Router();
  router
    .route('/console{/*path}')
    .all(atRoute('/console{/*path}'))
    .get((req, res) => {
      res.redirect((publicUrl ?? `http://${req.hostname}:${port}`) + req.originalUrl);
    })
    .all(refuseOtherMethods('GET'));
  return router;
}

/** The same program for operators. Mount it at `/admin`, behind their guard and after the board. */
export function createAdminRoutes(files: BuiltFiles | undefined): Router {
  const router = Router();
  // What the board doesn't know, nobody does.
  router.use('/queues', (_req, _res, next) => {
    next('router');
  });
  router
    .route('{/*path}')
    .all(atRoute('/admin{/*path}'))
    .get(...sendPage(files, []))
    .all(refuseOtherMethods('GET'));
  return router;
}

/** The page with the brand, for the program to read: the policy allows no script in it. */
function withBrand(files: BuiltFiles, brand: Brand): BuiltFiles {
  const page = files.get('/index.html');
  if (!page) return files;
  const html = page.bytes.identity.toString().replace(/<title>.*<\/title>/, () => {
    const [title, content] = [brand.name, JSON.stringify(brand)].map(escapeHtml);
    return `<title>${title}</title>\n    <meta name="herald-brand" content="${content}" />`;
  });
  const identity = Buffer.from(html);
  const bytes = { identity, gzip: gzipSync(identity), br: brotliCompressSync(identity) };
  return new Map([...files, ['/index.html', { ...page, bytes }]]);
}

/** The program reads the path itself, so every path gets the same page. */
function sendPage(files: BuiltFiles | undefined, frameAncestors: readonly string[]): RequestHandler[] {
  const send: RequestHandler = (req, res) => {
    const page = files?.get('/index.html');
    if (!page) throw new HttpFault('route_not_found', NOT_BUILT);
    res.set('cache-control', 'no-cache');
    if (frameAncestors.length > 0) {
      // Older than the policy, and can't name an origin.
      res.removeHeader('x-frame-options');
      res.set('cross-origin-resource-policy', 'cross-origin');
    }
    sendFile(page, req, res);
  };
  return [createSecurityHeaders(policyOf(frameAncestors)), send];
}

function sendFile({ type, bytes }: BuiltFile, req: Request, res: Response): void {
  const encoding = ENCODINGS.find((each) => each === req.acceptsEncodings([...ENCODINGS])) ?? 'identity';
  if (encoding !== 'identity') res.set('content-encoding', encoding);
  res.vary('accept-encoding').set('content-type', type).end(bytes[encoding]);
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** One file in every encoding in which it may be sent. */
type BuiltFile = {
  readonly type: string;
  readonly bytes: Readonly<Record<'identity' | 'gzip' | 'br', Buffer>>;
};

export type BuiltFiles = ReadonlyMap<string, BuiltFile>;

/** Reads the built console, by path such as `/index.html`. They are a few hundred kB. Undefined: it is not built. */
export function readBuiltFiles(folder: string): BuiltFiles | undefined {
  if (!existsSync(join(folder, 'index.html.br'))) return undefined;
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return new Map(
    names.flatMap((name) => {
      const type = TYPES[extname(name)];
      if (type === undefined) return [];
      const file = join(folder, name);
      const bytes = {
        identity: readFileSync(file),
        gzip: readFileSync(`${file}.gz`),
        br: readFileSync(`${file}.br`),
      };
      return [[`/${name}`, { type, bytes }] as const];
    }),
  );
}
