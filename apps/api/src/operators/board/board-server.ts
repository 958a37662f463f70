import type { AppViewRoute, ControllerHandlerReturnType, HTTPStatus } from '@bull-board/api/typings/app';
import { ExpressAdapter } from '@bull-board/express';
import type { Logger } from '@herald/runtime/log/logger';
import type { RequestHandler } from 'express';
import { toProblem } from '../../http/problem.ts';
import { toOwnPage } from './own-page.ts';

/** Where the board lives. */
export const BOARD_PATH = '/admin/queues';

/** bull-board's server, with a page that needs nothing from elsewhere, and errors in our own words. */
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
      // The body parser's: a request that bull-board itself could not have sent.
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
