import { readDuration } from '@herald/core';
import { ParsedText, readItems } from '@herald/runtime/env/env';

/** A duration such as `15s`, as ms. */
export const Duration = ParsedText(readDuration, 'must be a duration such as 500ms, 15s, 5m, 2h, 7d');

/** A comma-separated list of durations, which may be empty, as ms. */
export const DurationList = ParsedText(
  (text) => (text.trim() === '' ? [] : readItems(text, readDuration)),
  'must be durations separated by commas, such as 5s,5m,2h',
);
