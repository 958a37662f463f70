import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export interface NameServer extends AsyncDisposable {
  /** For `EGRESS_DNS_SERVERS`. */
  readonly address: string;
  /** From now on the name has this IPv4 address; every name that was never set doesn't exist. */
  set(name: string, address: string): void;
}

const TYPE_A = 1;
const NXDOMAIN = 3;

/** A DNS server (RFC 1035) on loopback, whose answers a test can change at any time. */
export async function startNameServer(): Promise<NameServer> {
  const addresses = new Map<string, string>();
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    socket.send(answerTo(query, addresses), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    set: (name, address) => addresses.set(name, address),
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

function answerTo(query: Buffer, addresses: ReadonlyMap<string, string>): Buffer {
  const labels: string[] = [];
  let offset = 12;
  for (let length = query.readUInt8(offset); length > 0; length = query.readUInt8(offset)) {
    labels.push(query.toString('latin1', offset + 1, offset + 1 + length));
    offset += length + 1;
  }
  const question = query.subarray(12, offset + 5);
  const type = query.readUInt16BE(offset + 1);
  const address = addresses.get(labels.join('.').toLowerCase());
  const records = address !== undefined && type === TYPE_A ? [toRecord(address)] : [];
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2); // the id
  header.writeUInt16BE(0x8580 | (address === undefined ? NXDOMAIN : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, question, ...records]);
}

/** An A record of the name in the question, good for no time at all. */
function toRecord(address: string): Buffer {
  return Buffer.from([0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]);
}
