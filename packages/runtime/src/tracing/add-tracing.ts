import type { Resources } from '../lifecycle/resources.ts';
import { VERSION } from '../version.ts';
import { createTracing, type Tracing, type TracingOptions } from './create-tracing.ts';

/** Traces of a process that end with it; undefined without a collector, and then nothing is paid for them. */
export function addTracing(
  resources: Resources,
  { endpoint, serviceName }: Pick<TracingOptions, 'serviceName'> & { readonly endpoint: string | undefined },
): Tracing | undefined {
  if (endpoint === undefined) return undefined;
  const tracing = createTracing({ endpoint, serviceName, version: VERSION });
  resources.add('tracing', tracing.close);
  return tracing;
}
