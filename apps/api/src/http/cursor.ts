import { ValidationError } from '@herald/core';
import { z } from 'zod';

/** The cursor of the next page, in an answer. */
export const NextCursor = z
  .string()
  .nullable()
  .meta({ description: 'The `cursor` of the next page. Null on the last one.' });

const SINCE_RULE = 'must be the sinceCursor of an earlier list';

/** Where a page ends: the number that orders the list, and the id that orders entries with the same number. */
export type Position = { readonly at: number; readonly id: string };

/** A position as opaque text for callers. */
export function writeCursor({ at, id }: Position): string {
  return Buffer.from(`${at}:${id}`).toString('base64url');
}

/**
 * @param name of the parameter, and of the field of an answer that it comes from
 * @throws ValidationError if the text does not come from `writeCursor`
 */
export function readCursor(text: string | undefined, name: 'cursor' | 'sinceCursor' = 'cursor'): Position | undefined {
  if (text === undefined) return undefined;
  const match = /^(\d{1,15}):([a-z0-9_]{0,64})$/.exec(Buffer.from(text, 'base64url').toString());
  if (match?.[1] === undefined || match[2] === undefined) {
    const message = name === 'cursor' ? 'must be the nextCursor of an earlier page' : SINCE_RULE;
    throw new ValidationError([{ path: name, message }]);
  }
  return { at: Number(match[1]), id: match[2] };
}
