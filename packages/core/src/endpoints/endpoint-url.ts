import { z } from 'zod';

const LIMIT_CHARACTERS = 2_048;

/** Why a url can't be an endpoint's, or undefined. Literal rules only: what an address may be is the egress guard's. */
function judgeEndpointUrl(text: string): string | undefined {
  if (text.length > LIMIT_CHARACTERS) return `must be at most ${LIMIT_CHARACTERS} characters`;
  // The parser would repair blanks, tabs, line breaks and backslashes; what was sent is what must be called.
  if (/[\s\\\p{Cc}]/u.test(text)) return 'must not contain white space, control characters or backslashes';
  if (!text.startsWith('https://')) return 'must start with https://';
  if (!/^https:\/\/[^/?#]/.test(text)) return 'must name a host after https://';
  const url = URL.parse(text);
  if (!url) return 'is not a valid url';
  if (/^https:\/\/[^/?#]*@/.test(text)) return 'must not contain credentials (user or password)';
  if (text.includes('#')) return 'must not contain a fragment (#...)';
  return undefined;
}

/** An endpoint's url: literally `https://` and a host, at most 2,048 characters, kept exactly as it was sent. */
export const EndpointUrl = z.string().superRefine((text, context) => {
  const problem = judgeEndpointUrl(text);
  if (problem) context.addIssue({ code: 'custom', message: problem });
});
