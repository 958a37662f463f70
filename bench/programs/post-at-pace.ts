import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { atPace } from '../clients.ts';
import type { PostAtPaceInput, PostedAt } from '../scenarios/latency.ts';
import { readInput, reply } from './program-io.ts';

// The time of a request from node:https to a receiver, at the pace of the deliveries, without Herald.

const { urls, caFile, everyMs, count, fanOut, body } = readInput() as PostAtPaceInput;
const agent = new Agent({ ca: readFileSync(caFile), keepAlive: true });
const posted: PostedAt[] = [];

function post(url: string, id: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const text = JSON.stringify({ ...body, id });
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      'x-service-delivery': id,
    };
    posted.push([id, performance.timeOrigin + performance.now()]);
    const sent = request(url, { method: 'POST', agent, headers }, (res) => {
      res.resume().once('end', () => {
        resolve();
      });
    });
    sent.once('error', reject);
    sent.end(text);
  });
}

await atPace(everyMs, count, (index) =>
  Promise.all(
    Array.from({ length: fanOut }, (_, turn) =>
      post(urls[(index * fanOut + turn) % urls.length] ?? '', `floor_${index}_${turn}`),
    ),
  ),
);
agent.destroy();
reply(posted);
