import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

/** Serves the `POST` of a module, as a framework would: `node serve-fetch.ts <module>`, on the port in PORT. */
const { POST } = (await import(pathToFileURL(process.argv[2] ?? '').href)) as {
  POST: (request: Request) => Promise<Response>;
};

async function respondTo(req: IncomingMessage): Promise<Response> {
  const headers = Object.entries(req.headers).map(([name, value]): [string, string] => [name, String(value)]);
  return POST(new Request(`http://127.0.0.1${req.url ?? ''}`, { method: 'POST', headers, body: await buffer(req) }));
}

const server = createServer((req, res) => {
  void respondTo(req).then(async (response) => res.writeHead(response.status).end(await response.text()));
});
const port = Number(process.env.PORT);
server.listen(port, '127.0.0.1', () => process.stdout.write(`listening on ${port}\n`));
