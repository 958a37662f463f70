import { readDuration } from '@herald/core';
import { z } from 'zod';

/** A duration such as `15s`, as ms. */
export const Duration = z.string().transform((text, context) => {
  const ms = readDuration(text);
  if (ms === undefined)
    context.addIssue({ code: 'custom', message: 'must be a duration such as 500ms, 15s, 5m, 2h, 7d' });
  return ms ?? z.NEVER;
});

/** A comma-separated list of durations, as ms. */
export const DurationList = z.string().transform((text, context) => {
  const list = text.trim() === '' ? [] : text.split(',').map(readDuration);
  const read = list.filter((ms) => ms !== undefined);
  if (read.length === list.length) return read;
  context.addIssue({ code: 'custom', message: 'must be durations separated by commas, such as 5s,5m,2h' });
  return z.NEVER;
});
