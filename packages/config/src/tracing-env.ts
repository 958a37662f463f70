import { z } from 'zod';

/**
 * Where traces go. Unset: there are none, and they cost nothing. The library reads the other standard variables of the
 * exporter, such as OTEL_EXPORTER_OTLP_HEADERS, and of the resource, such as OTEL_SERVICE_NAME, by itself.
 */
export const TracingEnv = z.object({
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be the http url of a collector, such as http://127.0.0.1:4318' })
    .optional(),
});
