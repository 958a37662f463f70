import { readStream, type StreamEvent } from './read-stream.ts';

async function readAll(...chunks: Uint8Array[]): Promise<StreamEvent[]> {
  const read: StreamEvent[] = [];
  // oxlint-disable-next-line typescript/require-await -- a stream is asynchronous
  async function* arrive() {
    yield* chunks;
  }
  for await (const event of readStream(arrive())) read.push(event);
  return read;
}

const TEXT =
  'id: dlv_1\nevent: task.done\ndata: {"text":"Grüße: 🚀"}\n\n: still here\n\nevent: end\ndata: {}\n\nevent: cut';
const EVENTS = [{ id: 'dlv_1', event: 'task.done', data: '{"text":"Grüße: 🚀"}' }, {}, { event: 'end', data: '{}' }];

test('events and comments are read however the network cuts them, and one that is cut short is left out', async () => {
  const bytes = Buffer.from(TEXT);
  expect(await readAll(bytes)).toEqual(EVENTS);
  for (let at = 1; at < bytes.length; at++) {
    expect(await readAll(bytes.subarray(0, at), bytes.subarray(at))).toEqual(EVENTS);
  }
  expect(await readAll(...[...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(EVENTS);
});
