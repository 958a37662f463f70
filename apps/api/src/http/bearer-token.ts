import type { Request } from 'express';

/** The token that a request carries; undefined without one. */
export function bearerTokenOf(req: Request): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(req.get('authorization') ?? '')?.[1];
}
