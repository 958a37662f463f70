import type { AppViewRoute, ControllerHandlerReturnType, HTTPStatus } from '@bull-board/api/typings/app';
import { ExpressAdapter } from '@bull-board/express';
import type { Logger } from '@herald/runtime/log/logger';
import type { RequestHandler } from 'express';
import { toProblem } from '../../http/problem.ts';
import { BOARD_PATH } from './board-path.ts';

/** bull-board's server, with a page that loads nothing from other hosts, and with Herald's error messages. */
export class BoardServer extends ExpressAdapter {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    super();
    this.#logger = logger;
    this.app.disable('x-powered-by').disable('etag');
    this.setBasePath(BOARD_PATH);
  }

  override setEntryRoute(entry: AppViewRoute): this {
    const showPage: RequestHandler = (_req, res, next) => {
      const { name, params } = entry.handler({ basePath: this.basePath, uiConfig: this.uiConfig });
      this.app.render(name, params, (error: Error | null, html: string) => {
        if (error) next(error);
        else res.type('html').send(toOwnPage(html));
      });
    };
    this.app.get(entry.route, showPage);
    return this;
  }

  override setErrorHandler(handler: (error: Error) => ControllerHandlerReturnType): this {
    return super.setErrorHandler((error) => {
      // From the body parser: bull-board's own page does not send such a request.
      if ('statusCode' in error) return handler(error);
      const { status, detail } = toProblem(error);
      if (status >= 500) this.#logger[status === 500 ? 'error' : 'warn']('board.failed', {}, error);
      return {
        status: status as HTTPStatus,
        body: { error: { key: 'ERRORS.INTERNAL_SERVER_ERROR' }, message: detail },
      };
    });
  }
}

/**
 * Removes from bull-board's page the links to other hosts (a font) and the inline styles. The page then loads under a
 * policy that allows neither, and no other host learns that somebody opened it.
 */
export function toOwnPage(html: string): string {
  return html
    .replace(/<link\b[^>]*\bhref="(?:https?:)?\/\/[^>]*>/gi, '')
    .replace(/<style\b[^>]*>[\s\S]*?<\/style>/gi, '')
    .replace(/(<(?:div|span)\b[^>]*?) style="[^"]*"/gi, '$1');
}
