import type { Response } from 'express';
import { toTime } from './to-time.ts';

export type RotatedSecret = { readonly secret: string; readonly overlapEndsAt: number | undefined };

/** Shows a new signing secret, this once, and until when the old one is in force beside it. */
export function sendRotatedSecret(res: Response, { secret, overlapEndsAt }: RotatedSecret): void {
  res.set('cache-control', 'no-store');
  res.json({ secret, overlapEndsAt: overlapEndsAt === undefined ? null : toTime(overlapEndsAt) });
}
