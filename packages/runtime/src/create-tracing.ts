import {
  type Attributes,
  type Context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import { AlwaysOnSampler, BatchSpanProcessor, ParentBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import { VERSION } from './version.ts';

/** Spans that a collector doesn't take within this time are dropped; a stopping process waits no longer either. */
const EXPORT_LIMIT_MS = 3_000;

/**
 * OpenTelemetry traces, exported in batches off the path of any request. An unreachable collector costs only spans.
 * There is no ambient context: the trace goes from the request to its transition, and from there to each attempt.
 * @param endpoint the collector's base url; traces are posted to `<endpoint>/v1/traces`
 * @param serviceName OTEL_SERVICE_NAME wins
 */
export function createTracing(endpoint: string, serviceName: string) {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    timeoutMillis: EXPORT_LIMIT_MS,
  });
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': serviceName, 'service.version': VERSION }))
      .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] })),
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('herald', VERSION);
  return {
    /** A request that is answered here. `parent`: the caller's `traceparent` header, unchecked. */
    startRequest: (name: string, parent: string | undefined) =>
      toTraceSpan(tracer.startSpan(name, { kind: SpanKind.SERVER }, contextOf(parent))),
    /** One attempt at a delivery. `parent`: the `traceparent` that its transition was accepted with. */
    startAttempt: (name: string, parent: string | undefined, attributes: Attributes) =>
      toTraceSpan(tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, contextOf(parent))),
    /** Exports the spans that are left. */
    close: () => provider.shutdown(),
  };
}
export type Tracing = ReturnType<typeof createTracing>;
export type TraceSpan = ReturnType<typeof toTraceSpan>;

/** A text that is no `traceparent` begins a new trace, as the W3C recommendation asks. */
function contextOf(parent: string | undefined): Context {
  const parsed = parent === undefined ? null : parseTraceParent(parent);
  if (parsed === null || !isSpanContextValid(parsed)) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, { ...parsed, isRemote: true });
}

function toTraceSpan(span: Span) {
  const { traceId, spanId, traceFlags } = span.spanContext();
  const isSampled = (traceFlags & TraceFlags.SAMPLED) !== 0;
  return {
    /** Names this span as the parent of a later one (W3C Trace Context); undefined when the trace isn't sampled. */
    traceparent: isSampled ? `00-${traceId}-${spanId}-01` : undefined,
    /** Ends the span. `failed`: the operation failed. */
    end({ failed, attributes, name }: { failed: boolean; attributes: Attributes; name?: string }) {
      if (name !== undefined) span.updateName(name);
      span.setAttributes(attributes);
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}
