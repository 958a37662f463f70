import {
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Span,
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
import { BatchSpanProcessor, ParentBasedSampler, AlwaysOnSampler, TracerProvider } from '@opentelemetry/sdk-trace';

/** What a collector doesn't take within this time is dropped; a process that stops waits no longer. */
const EXPORT_LIMIT_MS = 3_000;

/** A stretch of work in a trace. */
export type TraceSpan = {
  /** What a later stretch of the same trace names as its parent (W3C Trace Context); absent when it isn't sampled. */
  readonly traceparent: string | undefined;
  /** Ends it. `failed`: what it was for did not happen. */
  readonly end: (end: { readonly failed: boolean; readonly attributes: Attributes; readonly name?: string }) => void;
};

export type Tracing = {
  /** A request that is answered here. `parent`: the caller's `traceparent`, whatever it holds. */
  readonly startRequest: (name: string, parent: string | undefined) => TraceSpan;
  /** One attempt at a delivery. `parent`: what the transition was accepted with. */
  readonly startAttempt: (name: string, parent: string | undefined, attributes: Attributes) => TraceSpan;
  /** Exports what is left. */
  readonly close: () => Promise<void>;
};

export type TracingOptions = {
  /** The collector's base url; traces are posted to `<endpoint>/v1/traces`. */
  readonly endpoint: string;
  /** Name of the process: `herald-api`, `herald-worker`. OTEL_SERVICE_NAME wins. */
  readonly serviceName: string;
  readonly version: string;
};

/**
 * OpenTelemetry traces, exported in batches off the path of any request. A collector that is away costs spans, and nothing
 * else. There is no ambient context: the trace goes from the request to its transition, and from there to each attempt.
 */
export function createTracing({ endpoint, serviceName, version }: TracingOptions): Tracing {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    timeoutMillis: EXPORT_LIMIT_MS,
  });
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }))
      .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] })),
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('herald', version);
  return {
    startRequest: (name, parent) => toTraceSpan(tracer.startSpan(name, { kind: SpanKind.SERVER }, contextOf(parent))),
    startAttempt: (name, parent, attributes) =>
      toTraceSpan(tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, contextOf(parent))),
    close: () => provider.shutdown(),
  };
}

/** A text that is no `traceparent` begins a new trace, as the W3C recommendation asks. */
function contextOf(parent: string | undefined): Context {
  const parsed = parent === undefined ? null : parseTraceParent(parent);
  if (parsed === null || !isSpanContextValid(parsed)) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, { ...parsed, isRemote: true });
}

function toTraceSpan(span: Span): TraceSpan {
  const { traceId, spanId, traceFlags } = span.spanContext();
  const isSampled = (traceFlags & TraceFlags.SAMPLED) !== 0;
  return {
    traceparent: isSampled ? `00-${traceId}-${spanId}-01` : undefined,
    end({ failed, attributes, name }) {
      if (name !== undefined) span.updateName(name);
      span.setAttributes(attributes);
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}
