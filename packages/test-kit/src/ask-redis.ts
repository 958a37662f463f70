import { connect } from 'node:net';

const LIMIT_MS = 2_000;

/**
 * Sends one command to a Redis on loopback, and returns the bytes of its reply; none when there is no server. For
 * set-ups that aren't ready for a client yet. With a password it signs in first.
 */
export async function askRedis(port: number, command: string, password?: string): Promise<string> {
  const signIn = password === undefined ? '' : `AUTH ${password}\r\n`;
  const reply = await new Promise<string>((resolve) => {
    let received = '';
    const socket = connect({ host: '127.0.0.1', port }, () => socket.end(`${signIn}${command}\r\nQUIT\r\n`));
    socket.setEncoding('latin1').setTimeout(LIMIT_MS, () => socket.destroy());
    socket.on('data', (chunk: string) => (received += chunk));
    socket.on('error', () => undefined); // not listening; 'close' follows
    socket.on('close', () => {
      resolve(received);
    });
  });
  return signIn === '' ? reply : reply.replace(/^\+OK\r\n/, '');
}
