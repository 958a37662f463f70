import { z } from 'zod';
import { TimeText } from '../../http/to-time.ts';

/** Query of the overview. */
export const ReadOverview = z.strictObject({
  window: z
    .enum(['1h', '24h'])
    .meta({ id: 'OverviewWindow' })
    .default('1h')
    .meta({ description: 'How far back the buckets go. Default: 1h.' }),
});

const Count = z.int().min(0);
const Rate = z.number().min(0);
const Ms = z.int().min(0).exactOptional();

const FindingFields = z.strictObject({
  level: z.enum(['error', 'warning']),
  code: z.string().meta({ description: 'Stable, in snake_case.', examples: ['breaker_open'] }),
  text: z.string().meta({ description: 'What is wrong.' }),
  whatToDo: z.string(),
});

/** The state of the whole service. */
export const OverviewView = z
  .strictObject({
    at: TimeText,
    window: z.enum(['1h', '24h']),
    bucketSeconds: z.literal([60, 900]),
    now: z
      .strictObject({
        acceptedPerSecond: Rate,
        deliveredPerSecond: Rate,
        successRate: z.number().min(0).max(1).exactOptional(),
        arrivalP50Ms: Ms,
        arrivalP99Ms: Ms,
        waiting: Count.meta({ description: 'Deliveries that are due and wait only for a worker or a slot.' }),
        active: Count.meta({ description: 'Deliveries in work.' }),
        delayed: Count.meta({ description: 'Deliveries that are not due, or whose receiver is left alone.' }),
        oldestDueMs: Ms,
        emptyInMs: Count.meta({
          description:
            'When what is due will be sent, at these rates. Absent: never, since as much comes as goes, or nothing goes.',
        }).exactOptional(),
        isPaused: z.boolean(),
      })
      .meta({
        description:
          'Rates are of the last minute or two. `arrival…`: from the acceptance of a delivery to the end of its first attempt, of those that succeeded at once. Absent: nothing happened.',
      }),
    processes: z
      .array(z.strictObject({ role: z.enum(['api', 'worker']), id: z.string(), lastSeenAt: TimeText }))
      .meta({ description: 'Those seen lately.' }),
    redis: z
      .strictObject({
        usedBytes: Count.exactOptional(),
        maxBytes: Count.meta({ description: 'Absent without a limit.' }).exactOptional(),
        bytesPerSecond: z.number().meta({ description: 'How fast it grows. Absent at first.' }).exactOptional(),
        fullInSeconds: Count.meta({ description: 'When it is full at this rate.' }).exactOptional(),
      })
      .meta({ description: 'Memory of all masters. Empty where Redis does not tell.' }),
    workspaces: z.array(z.strictObject({ workspaceId: z.string(), pending: Count, bytes: Count })).meta({
      description:
        'The ten that hold the most, largest first. `bytes`: roughly what their Tasks, facts and bodies take in Redis.',
    }),
    buckets: z.array(
      z.strictObject({
        at: TimeText,
        accepted: Count,
        delivered: Count,
        failedAttempts: Count,
        p50Ms: Ms,
        p99Ms: Ms,
      }),
    ),
    findings: z.array(FindingFields).meta({ description: 'What is wrong now, in the words of `herald doctor`.' }),
  })
  .meta({ id: 'Overview' });
export type OverviewView = z.infer<typeof OverviewView>;
