import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { RETRY_AFTER_PATH, type Arrival, type ReceiversInput, type ReceiverState } from '../start-receivers.ts';
import { readInput, reply } from './program-io.ts';

// Receivers in a separate process, as cheap as node:https allows, and a page with their counts.

const DRIBBLE_EVERY_MS = 200;
const { certPem, keyPem, behaviours, recordArrivals, listenAt } = readInput() as ReceiversInput;

class Receiver {
  requests = 0;
  firstAt = 0;
  lastAt = 0;
  ids = new Set<string>();
  arrivals: Arrival[] = [];
  #open = 0;
  /** Sums for `heldMs`: of the requests that are over, and of the times at which the open ones came. */
  #heldMs = 0;
  #openSinceMs = 0;

  receive(req: IncomingMessage, res: ServerResponse): void {
    this.#hold(res);
    this.lastAt = Date.now();
    this.firstAt ||= this.lastAt;
    this.requests++;
    const id = String(req.headers['x-service-delivery']);
    const isNew = !this.ids.has(id);
    this.ids.add(id);
    if (recordArrivals && isNew) this.#recordArrival(req, performance.timeOrigin + performance.now());
    else req.resume();
  }

  #hold(res: ServerResponse): void {
    const since = performance.now();
    this.#open++;
    this.#openSinceMs += since;
    res.once('close', () => {
      this.#open--;
      this.#openSinceMs -= since;
      this.#heldMs += performance.now() - since;
    });
  }

  #recordArrival(req: IncomingMessage, arrivedAt: number): void {
    let body = '';
    req.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    req.once('end', () => {
      const { created_at: createdAt, id } = JSON.parse(body) as { created_at: string; id: string };
      this.arrivals.push([Date.parse(createdAt), arrivedAt, id]);
    });
  }

  state(): ReceiverState {
    const { requests, firstAt, lastAt, ids, arrivals } = this;
    const heldMs = this.#heldMs + this.#open * performance.now() - this.#openSinceMs;
    return { requests, deliveries: ids.size, firstAt, lastAt, heldMs, ...(recordArrivals && { arrivals }) };
  }
}

function answer(behaviour: ReceiversInput['behaviours'][number], res: ServerResponse): void {
  if (typeof behaviour === 'number') {
    setTimeout(() => res.end(), behaviour);
    return;
  }
  switch (behaviour) {
    case 'ok':
      res.end();
      return;
    case 'fail':
      res.writeHead(500).end();
      return;
    case 'retry-after':
      res.writeHead(503, { 'retry-after': '40' }).end();
      return;
    case 'hang':
      return;
    case 'dribble': {
      res.writeHead(200);
      const timer = setInterval(() => res.write('x'), DRIBBLE_EVERY_MS);
      res.once('close', () => {
        clearInterval(timer);
      });
    }
  }
}

const receivers = behaviours.map(() => new Receiver());
const origins = await Promise.all(
  behaviours.map(async (behaviour, index) => {
    const server = createServer({ cert: certPem, key: keyPem, keepAliveTimeout: 60_000 }, (req, res) => {
      if (req.url === RETRY_AFTER_PATH) {
        answer('retry-after', res);
        return;
      }
      receivers[index]?.receive(req, res);
      answer(behaviour, res);
    });
    server.listen(0, listenAt, 1_024);
    await once(server, 'listening');
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }),
);

const control = createHttpServer((req, res) => {
  const body =
    req.url === '/count'
      ? { deliveries: receivers.reduce((sum, { ids }) => sum + ids.size, 0) }
      : receivers.map((receiver) => receiver.state());
  res.end(JSON.stringify(body));
});
control.listen(0, '127.0.0.1');
await once(control, 'listening');
reply({ origins, controlPort: (control.address() as AddressInfo).port });
