import type { CertificateAuthority } from '@herald/test-kit';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';

export interface RawServerOptions {
  ca: CertificateAuthority;
  /** Names of its certificate. */
  hosts?: readonly string[];
  /** Answers one request with whatever bytes; called once its head and body are here. */
  answer: (socket: TLSSocket) => void;
}

export interface RawServer extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Complete requests so far. */
  requestCount(): number;
  /** Connections that are open now. */
  connectionCount(): number;
}

/** A TLS server that speaks HTTP as badly as a test wants. */
export async function startRawServer({ ca, hosts = ['127.0.0.1'], answer }: RawServerOptions): Promise<RawServer> {
  const { certPem, keyPem } = await ca.issueCertificate({ hosts });
  const sockets = new Set<TLSSocket>();
  let requests = 0;
  const server = createServer({ cert: certPem, key: keyPem }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined); // a client that leaves in mid-answer resets the connection
    socket.on('close', () => sockets.delete(socket));
    let received = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const length = lengthOfRequest(received);
      if (length === undefined || received.length < length) return;
      received = received.subarray(length);
      requests++;
      answer(socket);
    });
  });
  server.on('tlsClientError', () => undefined); // a client that doesn't trust the certificate
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `https://${hosts[0] ?? '127.0.0.1'}:${port}/hook`,
    requestCount: () => requests,
    connectionCount: () => sockets.size,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

/** Of the request at the start of these bytes; undefined while its head is incomplete. */
function lengthOfRequest(bytes: Buffer): number | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const declared = /^content-length: *(\d+)/im.exec(bytes.subarray(0, headEnd).toString('latin1'))?.[1];
  return headEnd + 4 + Number(declared ?? 0);
}
