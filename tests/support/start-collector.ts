import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly service: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface Collector extends AsyncDisposable {
  readonly endpoint: string;
  readonly spans: readonly CollectedSpan[];
}

interface Attribute {
  key: string;
  value: Record<string, unknown>;
}

interface ExportRequest {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: { spans: (Omit<CollectedSpan, 'attributes'> & { attributes: Attribute[] })[] }[];
  }[];
}

/** An OTLP collector that takes traces as JSON over HTTP. */
export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const server = createServer((req, res) => {
    void text(req).then((body) => {
      if (req.url === '/v1/traces') spans.push(...readSpans(JSON.parse(body) as ExportRequest));
      res.writeHead(req.url === '/v1/traces' ? 200 : 404, { 'content-type': 'application/json' }).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function readSpans({ resourceSpans }: ExportRequest): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = readAttributes(resource.attributes)['service.name'] as string | undefined;
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({ ...span, service, attributes: readAttributes(span.attributes) })),
    );
  });
}

function readAttributes(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
