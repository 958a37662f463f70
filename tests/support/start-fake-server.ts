import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

export interface FakeServer extends AsyncDisposable {
  readonly port: number;
}

/** A loopback server that is no Redis, or one that only says what a test wants. */
export async function startFakeServer(onConnection: (socket: Socket) => void): Promise<FakeServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined); // whoever asks leaves as he likes
    socket.on('close', () => sockets.delete(socket));
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

/** Answers each command, which comes as a list of bulk strings, with what `answer` makes of its words. */
export function speakRedis(answer: (words: readonly string[]) => string): (socket: Socket) => void {
  return (socket) => {
    let received = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      received += chunk;
      for (let command = takeCommand(received); command; command = takeCommand(received)) {
        received = received.slice(command.length);
        socket.write(answer(command.words));
      }
    });
  };
}

/** The first command in these bytes, and how many of them it takes; undefined while it is incomplete. */
function takeCommand(bytes: string): { readonly words: readonly string[]; readonly length: number } | undefined {
  const [head, count] = /^\*(\d+)\r\n/.exec(bytes) ?? [];
  if (head === undefined) return undefined;
  const words: string[] = [];
  let length = head.length;
  for (let index = 0; index < Number(count); index++) {
    const [size, bulkLength] = /^\$(\d+)\r\n/.exec(bytes.slice(length)) ?? [];
    if (size === undefined) return undefined;
    const start = length + size.length;
    length = start + Number(bulkLength) + 2;
    if (length > bytes.length) return undefined;
    words.push(bytes.slice(start, length - 2));
  }
  return { words, length };
}
