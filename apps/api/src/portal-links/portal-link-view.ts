import { z } from 'zod';
import { TimeText } from '../http/to-time.ts';

/** The longest life of a portal link, in seconds. */
const LONGEST_S = 86_400;

const READ_ONLY = z.boolean().meta({ description: 'Whether the link can only read.' });

/** Body of `POST /api/public/portal-links`. */
export const CreatePortalLink = z
  .strictObject({
    expiresInSeconds: z
      .int()
      .min(60)
      .max(LONGEST_S)
      .default(3_600)
      .meta({ description: 'How long it works. It never works longer than the API key that made it.' }),
    readOnly: READ_ONLY.default(false),
  })
  .meta({ id: 'CreatePortalLink' });

/** Body of the operation by which an operator opens a workspace's pages. */
export const OpenWorkspace = z.strictObject({ readOnly: READ_ONLY.default(false) }).meta({ id: 'OpenWorkspace' });

const TOKEN_EXAMPLE = 'hrlp_7tVQn0yJxk3LbM9cWf2RzD6sHgA8pE1uXaBcDe';

export const PortalLinkView = z
  .strictObject({
    url: z
      .string()
      .meta({
        description: 'The console, signed in. Absolute where `PUBLIC_URL` is set, else a path. Whoever has it is in.',
      })
      .exactOptional(),
    token: z.string().meta({ description: 'The bearer token in the url. Shown only in this answer.' }).exactOptional(),
    expiresAt: TimeText,
    readOnly: READ_ONLY,
  })
  .meta({
    id: 'PortalLink',
    description: 'A link to the console of one workspace.',
    examples: [
      {
        url: `https://herald.example.com/console#token=${TOKEN_EXAMPLE}`,
        token: TOKEN_EXAMPLE,
        expiresAt: '2030-01-31T13:00:00.000Z',
        readOnly: false,
      },
    ],
  });
