import { z } from 'zod';

// Tab and line break are what people type; the rest moves cursors, ends strings, or is half a character.
// eslint-disable-next-line no-control-regex -- they are what is looked for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/** Text that somebody types, and that operators and other people read. */
export const TypedText = (min: number, max: number) =>
  z
    .string()
    .min(min)
    .max(max)
    .refine((text) => !CONTROL.test(text), 'must not contain control characters other than tab and line break')
    .refine((text) => text.isWellFormed(), 'must be well-formed Unicode');
