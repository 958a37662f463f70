import { createEgressSender } from '@herald/egress/create-egress';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { startCpuReading } from '../usage.ts';
import type { SendInput } from '../floor.ts';
import { readInput, reply } from './program-io.ts';

// Only the sender, or only node:https, without warm-up: requests like deliveries, with signatures made in advance.

const { client, urls, caFile, count, concurrency, pids } = readInput() as SendInput;

const body = Buffer.from(
  JSON.stringify({
    id: 'trn_2z5gq3xk7m4wq6y2bnd5vhj3sfa7c4te',
    event: 'task.check_in',
    created_at: new Date().toISOString(),
    sequence: 3,
    task: { id: 'task_01j9zq3xk7m4wq6y2bnd5vhj3s', status: 'running' },
    outcome: {
      summary: 'Read 42 of 120 invoices; three of them name a supplier that is not in the ledger.',
      progress: 0.35,
    },
  }),
);

function headersOf(index: number): Record<string, string> {
  const id = `dlv_2z5gq3xk7m4wq6y2bnd5vh${String(index).padStart(8, '0')}`;
  return {
    'content-type': 'application/json',
    'x-service-event': 'task.check_in',
    'x-service-signature': 'sha256=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'x-service-delivery': id,
    'webhook-id': id,
    'webhook-timestamp': '1760000000',
    'webhook-signature': 'v1,n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=',
  };
}

type Send = (url: string, index: number) => Promise<number>;

const caPem = readFileSync(caFile, 'utf8');

function createGotSend(): Send {
  const sender = createEgressSender({ allowCidrs: ['127.0.0.0/8'], caPem, names: {}, deadlineMs: 15_000 });
  return async (url, index) => {
    const { outcome } = await sender.send({ url, headers: headersOf(index), body });
    return outcome.kind === 'responded' ? outcome.status : 0;
  };
}

function createHttpsSend(): Send {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 10, ca: caPem });
  const targets = new Map(urls.map((url) => [url, new URL(url)]));
  return async (url, index) => {
    const { hostname: host, port, pathname: path } = targets.get(url) ?? new URL(url);
    const headers = { ...headersOf(index), 'user-agent': 'bench', 'content-length': String(body.length) };
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const sent = request({ host, port, path, method: 'POST', headers, agent }, (response) => {
      text(response).then(() => {
        resolve(response.statusCode ?? 0);
      }, reject);
    });
    sent.on('error', reject).end(body);
    return promise;
  };
}

const send = client === 'got' ? createGotSend() : createHttpsSend();
const readCpu = startCpuReading(pids);
const usedBefore = process.cpuUsage();
const startedAt = performance.now();
let next = 0;
await Promise.all(
  Array.from({ length: concurrency }, async () => {
    for (let index = next++; index < count; index = next++) {
      const status = await send(urls[index % urls.length] ?? '', index);
      if (status !== 200) throw new Error(`a receiver answered ${status}`);
    }
  }),
);
const seconds = (performance.now() - startedAt) / 1_000;
const { user, system } = process.cpuUsage(usedBefore);
const cpuUs = { worker: (user + system) / count, receiver: (readCpu().receiver * 1_000) / count };
reply({ perSecond: count / seconds, cpuUs });
process.exit(0); // kept connections would keep the process for a while
