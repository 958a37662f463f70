import { z } from 'zod';

/** What came of a test event (spec section 4). */
export const TestOutcome = z
  .union([
    z.strictObject({
      delivered: z.boolean().meta({ description: 'Whether the receiver answered with a 2xx.' }),
      receiverStatus: z.int().min(100).max(999),
    }),
    z.strictObject({
      delivered: z.literal(false),
      error: z
        .string()
        .regex(/^[a-z_]+$/)
        .meta({ description: 'Why no status came, as a stable code.', examples: ['timeout_response'] }),
    }),
  ])
  .meta({ id: 'TestOutcome', examples: [{ delivered: true, receiverStatus: 204 }] });
export type TestOutcome = z.infer<typeof TestOutcome>;
