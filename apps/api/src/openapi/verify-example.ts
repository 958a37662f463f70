/** How a receiver verifies a delivery, to copy. A test runs it. */
export const VERIFY_EXAMPLE = `import { createHmac, timingSafeEqual } from 'node:crypto';

// rawBody: the bytes as they came. signature: the header x-service-signature.
export function isGenuine(rawBody, signature, secret) {
  const digest = createHmac('sha256', secret).update(rawBody).digest('hex');
  const expected = Buffer.from(\`sha256=\${digest}\`);
  const given = Buffer.from(signature ?? '');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
`;
