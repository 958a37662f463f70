import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

// Serves a program of Azure Functions as its host would: `node serve-azure.js <module>`, on the port in PORT. What comes and
// goes is what the host sends and takes over gRPC. JavaScript, as Node 20 runs nothing else.
const file = resolve(process.argv[2]);
await import(pathToFileURL(file).href);
const { model, registered } = createRequire(file)('@azure/functions-core');
const { metadata, callback } = registered;
const [trigger] = Object.entries(metadata.bindings).find(([, { type }]) => type === 'httpTrigger');

async function respondTo(req) {
  const url = `http://127.0.0.1${req.url}`;
  const headers = Object.fromEntries(Object.entries(req.headers).map(([name, value]) => [name, String(value)]));
  const http = { method: req.method, url, headers, body: { bytes: await buffer(req) }, query: {}, params: {} };
  const request = { inputData: [{ name: trigger, data: { http } }], triggerMetadata: {} };
  const call = model.getInvocationModel({ invocationId: '1', request, metadata, log: () => undefined });
  const { context, inputs } = await call.getArguments();
  const { returnValue } = await call.getResponse(context, await call.invokeFunction(context, inputs, callback));
  return returnValue.http;
}

const server = createServer((req, res) => {
  void respondTo(req).then(({ statusCode, headers, body }) =>
    res.writeHead(Number(statusCode), headers).end(body.bytes),
  );
});
const port = Number(process.env.PORT);
server.listen(port, '127.0.0.1', () => process.stdout.write(`listening on ${port}\n`));
