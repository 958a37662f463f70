import { connect } from 'node:net';
import type { RedisAddress } from './redis-target.ts';

/** What a server does after a PING in plain text. */
export type ServerLook =
  | { readonly kind: 'answers'; readonly text: string }
  | { readonly kind: 'is_silent' | 'closes' | 'is_away' };

const LIMIT_MS = 1_000;
const LIMIT_BYTES = 1_024;

/**
 * Looks at an address where the client gets no answer. A server says why it refuses a connection before the first
 * command, and the client drops that. Never rejects.
 */
export async function lookAtServer({ host, port }: RedisAddress): Promise<ServerLook> {
  return await new Promise((resolve) => {
    let text = '';
    let isConnected = false;
    const socket = connect({ host, port }, () => {
      isConnected = true;
      socket.write('PING\r\n');
    });
    const end = (look: ServerLook) => {
      clearTimeout(timer);
      resolve(text === '' ? look : { kind: 'answers', text });
      socket.destroy();
    };
    const timer = setTimeout(() => {
      end({ kind: isConnected ? 'is_silent' : 'is_away' });
    }, LIMIT_MS);
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (text.includes('\n') || text.length >= LIMIT_BYTES) end({ kind: 'closes' });
    });
    socket.on('error', () => undefined); // 'close' follows
    socket.on('close', () => {
      end({ kind: isConnected ? 'closes' : 'is_away' });
    });
  });
}
