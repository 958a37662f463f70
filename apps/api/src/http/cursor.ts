import { ValidationError } from '@herald/core';
import { z } from 'zod';

/** Where the next page begins, in an answer. */
export const NextCursor = z
  .string()
  .nullable()
  .meta({ description: 'The `cursor` of the next page; null on the last one.' });

/** Where a page ends: a number that the list is ordered by, and the id that tells apart what shares it. */
export type Position = { readonly at: number; readonly id: string };

/** A position as callers see it: opaque text. */
export function writeCursor({ at, id }: Position): string {
  return Buffer.from(`${at}:${id}`).toString('base64url');
}

/** @throws ValidationError when the text is not a cursor of ours */
export function readCursor(text: string | undefined): Position | undefined {
  if (text === undefined) return undefined;
  const match = /^(\d{1,15}):([a-z0-9_]{0,64})$/.exec(Buffer.from(text, 'base64url').toString());
  if (match?.[1] === undefined || match[2] === undefined) {
    throw new ValidationError([{ path: 'cursor', message: 'must be the nextCursor of an earlier page' }]);
  }
  return { at: Number(match[1]), id: match[2] };
}
