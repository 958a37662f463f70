import { z } from 'zod';

/** A time as the API shows it. */
export const TimeText = z
  .string()
  .meta({ format: 'date-time', description: 'An RFC 3339 time in UTC.', examples: ['2030-01-31T12:00:00.000Z'] });

/** @param ms epoch ms */
export function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
