/* global Request */
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

// Serves a module as its framework would: `node serve-fetch.js <module>`, on the port in PORT. The module exports a `POST`, as a
// route of Next.js does, a `handler`, as of AWS Lambda, or by default something with `fetch`, as an app of Hono is. JavaScript, as Node 20 runs nothing else.
const module = await import(pathToFileURL(process.argv[2]).href);
const respond = module.POST ?? (module.handler ? respondAsGateway : (request) => module.default.fetch(request));

/** As API Gateway calls a function: bodies in base64, lists of header values, and none that are too large. */
async function respondAsGateway(request) {
  const body = Buffer.from(await request.arrayBuffer());
  if (body.length > 1024 * 1024) return new Response('', { status: 413 });
  const multiValueHeaders = Object.fromEntries([...request.headers].map(([name, value]) => [name, [value]]));
  const event = { headers: null, multiValueHeaders, isBase64Encoded: true, body: body.toString('base64') };
  const { statusCode, body: text } = await module.handler(event);
  return new Response(text, { status: statusCode });
}

async function respondTo(req) {
  const headers = Object.entries(req.headers).map(([name, value]) => [name, String(value)]);
  return respond(new Request(`http://127.0.0.1${req.url}`, { method: 'POST', headers, body: await buffer(req) }));
}

const server = createServer((req, res) => {
  void respondTo(req).then(async (response) => res.writeHead(response.status).end(await response.text()));
});
const port = Number(process.env.PORT);
server.listen(port, '127.0.0.1', () => process.stdout.write(`listening on ${port}\n`));
