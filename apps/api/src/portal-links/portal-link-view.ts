import { PortalLinkIdText } from '@herald/core';
import { makerOf, type PortalLink } from '@herald/store/portal-links/portal-link-store';
import { z } from 'zod';
import { ShownOnce } from '../http/rotated-secret.ts';
import { TimeText, toTime } from '../http/to-time.ts';

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
const LINK_EXAMPLE = {
  id: 'plk_0f1e2d3c4b5a6978',
  createdAt: '2030-01-31T12:00:00.000Z',
  expiresAt: '2030-01-31T13:00:00.000Z',
  readOnly: true,
  createdBy: 'key_0123456789abcdef',
};

const MadeFields = { id: PortalLinkIdText, expiresAt: TimeText, readOnly: READ_ONLY };

export const PortalLinkView = z
  .strictObject({
    ...MadeFields,
    url: z.string().meta({
      description: 'The console, signed in. Absolute where `PUBLIC_URL` is set, else a path. Whoever has it is in.',
    }),
    token: z.string().meta({ description: 'The bearer token in the url. Shown only in this answer.' }),
  })
  .meta({
    id: 'PortalLink',
    description: 'A link to the console of one workspace.',
    examples: [
      {
        id: LINK_EXAMPLE.id,
        url: `https://herald.example.com/console#token=${TOKEN_EXAMPLE}`,
        token: TOKEN_EXAMPLE,
        expiresAt: LINK_EXAMPLE.expiresAt,
        readOnly: false,
      },
    ],
  });

const RepeatedPortalLink = z
  .strictObject(MadeFields)
  .meta({ id: 'RepeatedPortalLink', description: 'The answer to a new link, repeated for its `Idempotency-Key`.' });

export const PortalLinkCreation = ShownOnce('PortalLinkCreation', PortalLinkView, RepeatedPortalLink);

export const PortalLinkList = z
  .strictObject({
    portalLinks: z.array(
      z.strictObject({
        id: PortalLinkIdText,
        createdAt: TimeText,
        expiresAt: TimeText,
        readOnly: READ_ONLY,
        createdBy: z.string().meta({
          description:
            'The id of the API key that made it, or `operator` for one that an operator of the service made.',
          examples: [LINK_EXAMPLE.createdBy],
        }),
      }),
    ),
  })
  .meta({ id: 'PortalLinkList', examples: [{ portalLinks: [LINK_EXAMPLE] }] });

/** A link in a list: never its token, nor the url that has it. */
export function toListedLink(link: PortalLink): z.infer<typeof PortalLinkList>['portalLinks'][number] {
  const { id, createdAt, expiresAt, readOnly } = link;
  return { id, createdAt: toTime(createdAt), expiresAt: toTime(expiresAt), readOnly, createdBy: makerOf(link) };
}

export const PortalLinkDeleted = z.strictObject({ deleted: z.boolean() }).meta({ id: 'PortalLinkDeleted' });
