import { ValidationError } from '@herald/core';
import type { TaskCursor } from '@herald/infra';

/** A cursor as callers see it: opaque text. */
export function writeCursor({ updatedAt, id }: TaskCursor): string {
  return Buffer.from(`${updatedAt}:${id}`).toString('base64url');
}

/** @throws ValidationError when the text is not a cursor of ours */
export function readCursor(text: string | undefined): TaskCursor | undefined {
  if (text === undefined) return undefined;
  const match = /^(\d{1,15}):(task_[0-9a-z]{26})$/.exec(Buffer.from(text, 'base64url').toString());
  if (match?.[1] === undefined || match[2] === undefined) {
    throw new ValidationError([{ path: 'cursor', message: 'must be the nextCursor of an earlier page' }]);
  }
  return { updatedAt: Number(match[1]), id: match[2] };
}
