import type { oas31 } from 'zod-openapi';

/** Response headers, by the name they are sent under. */
export const HEADERS = {
  'x-request-id': {
    description:
      'Id of the request: its own `x-request-id` if that has 1 to 64 letters, digits, `.`, `_` or `-`, else a new one.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
    example: 'req_8fK2mQ0ZxYbA',
  },
  location: { description: 'Path of the new object.', required: true, schema: { type: 'string', pattern: '^/' } },
  'cache-control': {
    description: '`no-store`: the answer may hold a secret.',
    required: true,
    schema: { type: 'string', const: 'no-store' },
  },
  etag: {
    description: 'Changes with whatever can be set of the receiver. Send it in `If-Match` with a change.',
    required: true,
    schema: { type: 'string', pattern: '^"[0-9a-f]+"$' },
    example: '"5f0c6f9a31d84f6c9f2e0c1d7a1b2c3d5e6f7a8b"',
  },
  'www-authenticate': {
    description: 'How to authenticate.',
    required: true,
    schema: { type: 'string', pattern: '^(Bearer|Basic)\\b' },
  },
  'retry-after': {
    description: 'Seconds to wait before the next try.',
    required: true,
    schema: { type: 'string', pattern: '^\\d+$' },
    example: '2',
  },
  'idempotency-replayed': {
    description: '`true`: the answer of an earlier request with the same `Idempotency-Key`, without its secret.',
    schema: { type: 'string', const: 'true' },
  },
  ratelimit: {
    description: '`r`: requests left. `t`: seconds until the limit is full again. Absent without a limit.',
    schema: { type: 'string' },
    example: '"api-key"; r=199; t=1',
  },
  'ratelimit-policy': {
    description: '`q`: requests that one API key may make in `w` seconds. Absent without a limit.',
    schema: { type: 'string' },
    example: '"api-key"; q=200; w=1; pk=:MTIz:',
  },
} as const satisfies Record<string, oas31.HeaderObject>;
export type HeaderName = keyof typeof HEADERS;

export const RATE_LIMIT_HEADERS = ['ratelimit', 'ratelimit-policy'] as const satisfies readonly HeaderName[];

export function headerRef(name: HeaderName): oas31.ReferenceObject {
  return { $ref: `#/components/headers/${name}` };
}
