import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** What a name has: its addresses, behind a chain of other names if there is one. */
export interface NameRecords {
  readonly a?: readonly string[];
  readonly aaaa?: readonly string[];
  readonly cname?: readonly string[];
}

export interface NameServer extends AsyncDisposable {
  /** For `EGRESS_DNS_SERVERS`. */
  readonly address: string;
  /** From now on the name has this IPv4 address; every name that was never set doesn't exist. */
  set(name: string, address: string): void;
  /** From now on the first question of a type is answered from the first records, the second from the second, the last repeats. */
  setInTurn(name: string, ...rounds: readonly [NameRecords, ...NameRecords[]]): void;
  /** Questions so far, such as `A hooks.example.com`. */
  readonly questions: readonly string[];
}

const TYPES: ReadonlyMap<number, 'a' | 'aaaa'> = new Map([
  [1, 'a'],
  [28, 'aaaa'],
]);
const TYPE_CNAME = 5;
const NXDOMAIN = 3;

/** A DNS server (RFC 1035) on loopback, whose answers a test can change at any time. None of them may be kept. */
export async function startNameServer(): Promise<NameServer> {
  const zone = new Map<string, readonly NameRecords[]>();
  const questions: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = readQuestion(query);
    const kind = TYPES.get(type);
    const question = `${kind?.toUpperCase() ?? String(type)} ${name}`;
    questions.push(question);
    const rounds = zone.get(name);
    const asked = questions.filter((each) => each === question).length;
    const records = rounds?.[Math.min(asked, rounds.length) - 1];
    socket.send(toAnswer(query, { name, kind, end }, records), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const setInTurn = (name: string, ...rounds: readonly NameRecords[]) => {
    zone.set(name, rounds);
    questions.splice(0, Infinity, ...questions.filter((question) => !question.endsWith(` ${name}`)));
  };
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    setInTurn,
    set: (name, address) => {
      setInTurn(name, { a: [address] });
    },
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let offset = 12;
  for (let length = query.readUInt8(offset); length > 0; length = query.readUInt8(offset)) {
    labels.push(query.toString('latin1', offset + 1, offset + 1 + length));
    offset += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(offset + 1), end: offset + 5 };
}

function toAnswer(
  query: Buffer,
  { name, kind, end }: { name: string; kind: 'a' | 'aaaa' | undefined; end: number },
  records: NameRecords | undefined,
): Buffer {
  const chain = [name, ...(records?.cname ?? [])];
  const links = chain.slice(1).map((target, index) => toRecord(chain[index] ?? '', TYPE_CNAME, toName(target)));
  const addresses = kind === undefined ? [] : (records?.[kind] ?? []);
  const last = chain.at(-1) ?? name;
  const found = addresses.map((address) => toRecord(last, kind === 'a' ? 1 : 28, toBytes(address)));
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2); // the id
  header.writeUInt16BE(0x8580 | (records === undefined ? NXDOMAIN : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(links.length + found.length, 6);
  return Buffer.concat([header, query.subarray(12, end), ...links, ...found]);
}

/** Good for no time at all. */
function toRecord(owner: string, type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(1, 2);
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([toName(owner), head, data]);
}

function toName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1'));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

function toBytes(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  // The parser writes every notation in groups, and leaves out at most one run of zeros.
  const [head = '', tail = ''] = new URL(`https://[${address}]`).hostname.slice(1, -1).split('::');
  const [first, last] = [head, tail].map((part) => part.split(':').filter((group) => group !== ''));
  const groups = [
    ...(first ?? []),
    ...Array<string>(8 - (first?.length ?? 0) - (last?.length ?? 0)).fill('0'),
    ...(last ?? []),
  ];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
