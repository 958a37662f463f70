import { EndpointUrl } from '@herald/core';
import { createEndpointUrlJudge } from '@herald/egress/judge-url-host';
import { ParsedText, problemOf } from '@herald/runtime/env/env';
import { z } from 'zod';

/** Standard Webhooks asks for so many bytes. */
const BYTES = { min: 24, max: 64 };

function readSecret(text: string): string | undefined {
  const base64 = /^whsec_(.+)$/.exec(text)?.[1] ?? '';
  const bytes = Buffer.from(base64, 'base64');
  // Node skips unknown characters in base64, so a quoted or cut secret would become another one.
  const isWhole = bytes.toString('base64') === base64;
  return isWhole && bytes.length >= BYTES.min && bytes.length <= BYTES.max ? text : undefined;
}

/** Where notices to the platform go, and the secret that signs them. Without both there are none. */
export const NoticeEnv = z.object({
  NOTICE_URL: EndpointUrl.optional(),
  NOTICE_SECRET: ParsedText(
    readSecret,
    'must be whsec_ and the base64 of 24 to 64 bytes: echo "whsec_$(openssl rand -base64 32)" makes one',
  ).optional(),
});

type Given = Partial<z.infer<typeof NoticeEnv>> & {
  readonly EGRESS_ALLOW_CIDRS: readonly string[];
  readonly EGRESS_DENY_CIDRS: readonly string[];
};

/** One without the other is a mistake, and so is a url that a receiver could not have. */
export function withUsableNotices<Schema extends z.ZodType<Given>>(schema: Schema): Schema {
  return schema
    .refine(
      ({ NOTICE_URL: url, NOTICE_SECRET: secret }) => url === undefined || secret !== undefined,
      problemOf('NOTICE_SECRET', 'must be set, since NOTICE_URL is: echo "whsec_$(openssl rand -base64 32)" makes one'),
    )
    .refine(
      ({ NOTICE_URL: url, NOTICE_SECRET: secret }) => secret === undefined || url !== undefined,
      problemOf('NOTICE_URL', 'must be set, since NOTICE_SECRET is'),
    )
    .superRefine(({ NOTICE_URL: url, EGRESS_ALLOW_CIDRS: allowCidrs, EGRESS_DENY_CIDRS: denyCidrs }, context) => {
      const problem = url === undefined ? undefined : createEndpointUrlJudge({ allowCidrs, denyCidrs })(url);
      if (problem === undefined) return;
      context.addIssue({ code: 'custom', path: ['NOTICE_URL'], message: problem });
    });
}

export function toNoticeConfig({ NOTICE_URL: url, NOTICE_SECRET: secret }: z.infer<typeof NoticeEnv>) {
  return url === undefined || secret === undefined ? undefined : { url, secret };
}
export type NoticeConfig = NonNullable<ReturnType<typeof toNoticeConfig>>;
