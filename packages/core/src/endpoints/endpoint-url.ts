import { domainToUnicode } from 'node:url';
import { z } from 'zod';
import { judgeEndpointUrl, LIMIT_CHARACTERS } from './judge-endpoint-url.ts';

/** An endpoint's url: `https://` and a host, at most 2,048 characters, stored exactly as it was sent. */
export const EndpointUrl = z
  .string()
  .superRefine((text, context) => {
    const problem = judgeEndpointUrl(text, domainToUnicode);
    if (problem) context.addIssue({ code: 'custom', message: problem });
  })
  .meta({
    id: 'EndpointUrl',
    description:
      '`https://` and a public host. No credentials, no fragment. The path and query are in their normal form: no `..`, and percent-encoded where needed. Called exactly as it was sent.',
    pattern: '^[Hh][Tt][Tt][Pp][Ss]://[^/?#]',
    maxLength: LIMIT_CHARACTERS,
    examples: ['https://hooks.example.com/herald'],
  });
