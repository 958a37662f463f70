import { once } from 'node:events';
import { request, type Agent, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { ReceivedAnswer } from '../../support/find-answer-breaches.ts';
import type { FuzzRequest } from './make-request.ts';

/** Sends a request just as it is, and waits for all of its answer. Rejects when that takes longer than the deadline. */
export async function sendFuzzRequest(
  origin: string,
  given: FuzzRequest,
  agent: Agent,
  deadlineMs: number,
): Promise<ReceivedAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<ReceivedAnswer>();
  const { hostname, port } = new URL(origin);
  const { method, path, headers, body } = given;
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const sent = request({ hostname, port, method, path, agent, headers: { ...headers, ...length } });
  sent.setTimeout(deadlineMs, () => sent.destroy(new Error(`no answer within ${deadlineMs} ms`)));
  sent.on('response', (response) => {
    const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true;
    (isStream && method === 'GET' ? firstOf(response) : text(response)).then((content) => {
      const received = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
      const isJson = /^application\/(problem\+)?json\b/.test(response.headers['content-type'] ?? '');
      resolve({
        status: response.statusCode ?? 0,
        headers: Object.fromEntries(received) as Record<string, string>,
        body: isJson && content !== '' ? (JSON.parse(content) as unknown) : content,
      });
    }, reject);
  });
  sent.on('error', reject);
  sent.end(body);
  return await promise;
}

/** What comes first of a stream, which doesn't end by itself. */
async function firstOf(response: IncomingMessage): Promise<string> {
  const [first] = (await once(response, 'data')) as [Buffer];
  response.destroy();
  return first.toString();
}
