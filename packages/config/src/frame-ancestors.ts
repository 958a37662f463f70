import { ParsedText, readItems } from '@herald/runtime/env/env';

/** An origin as a Content Security Policy names it; `https://*.example.com` stands for every subdomain. */
const ORIGIN = /^https?:\/\/(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:[1-9]\d{0,4})?$/;

/** Origins, separated by commas, whose pages may call the API. Default: none. */
export const AllowedOrigins = ParsedText(
  (text) => readItems(text, (origin) => (ORIGIN.test(origin) && !origin.includes('*') ? origin : undefined)),
  'must be origins without a path, in lower case and separated by commas, such as https://app.example.com; none has a *',
).default([]);

/** Origins, separated by commas, whose pages may show the console in a frame. Default: none. */
export const FrameAncestors = ParsedText(
  (text) => readItems(text, (origin) => (ORIGIN.test(origin) ? origin : undefined)),
  'must be origins without a path, in lower case and separated by commas, such as https://app.example.com',
).default([]);
