import type { Tracing } from './create-tracing.ts';
import type { Resources } from './lifecycle.ts';

type TracingOptions = {
  /** The collector's base url. Undefined: there is no tracing. */
  readonly endpoint: string | undefined;
  /** Name of the process: `herald-api`, `herald-worker`. */
  readonly serviceName: string;
};

/**
 * The traces of a process, closed with its other resources. Without a collector it is undefined, and costs nothing:
 * OpenTelemetry isn't even loaded.
 */
export async function addTracing(
  resources: Resources,
  { endpoint, serviceName }: TracingOptions,
): Promise<Tracing | undefined> {
  if (endpoint === undefined) return undefined;
  const { createTracing } = await import('./create-tracing.ts');
  const tracing = createTracing(endpoint, serviceName);
  resources.add('tracing', tracing.close);
  return tracing;
}
