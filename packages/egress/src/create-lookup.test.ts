import { createSocket, type Socket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { createLookup } from './create-lookup.ts';
import type { Lookup } from './dial.ts';

const NXDOMAIN = 3;
const SERVFAIL = 2;
const REFUSED = 5;
const NO_ANSWER = -1;
type Records = string[] | typeof NXDOMAIN | typeof SERVFAIL | typeof REFUSED | typeof NO_ANSWER;
type Table = Record<string, { a: Records; aaaa: Records }>;

/** Answers A and AAAA questions from a table, over UDP. Those for the root are not listed: a look may ask at any time. */
async function startDnsServer(table: Table) {
  const questions: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, peer) => {
    const { name, type, end } = readQuestion(message);
    if (name !== '') questions.push(`${type === 1 ? 'A' : 'AAAA'} ${name}`);
    const records = table[name]?.[type === 1 ? 'a' : 'aaaa'] ?? NXDOMAIN;
    if (records === NO_ANSWER) return;
    socket.send(answer(message.subarray(0, end), records), peer.port, peer.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { server: `127.0.0.1:${socket.address().port}`, questions, [Symbol.asyncDispose]: () => close(socket) };
}

async function close(socket: Socket): Promise<void> {
  const closed = once(socket, 'close');
  socket.close();
  await closed;
}

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function answer(question: Buffer, records: Records): Buffer {
  const header = Buffer.from(question.subarray(0, 12));
  const addresses = typeof records === 'number' ? [] : records;
  header.writeUInt16BE(0x8180 | (typeof records === 'number' ? records : 0), 2);
  header.writeUInt16BE(addresses.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, question.subarray(12), ...addresses.map(toRecord)]);
}

function toRecord(address: string): Buffer {
  const data = address.includes(':')
    ? Buffer.from(
        address
          .split(':')
          .map((part) => part.padStart(4, '0'))
          .join(''),
        'hex',
      )
    : Buffer.from(address.split('.').map(Number));
  const head = Buffer.from([0xc0, 12, 0, data.length === 4 ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, data.length]);
  return Buffer.concat([head, data]);
}

/** All its addresses. Rejects with the first error when it has none. */
async function ask(lookup: Lookup, name: string): Promise<readonly string[]> {
  const parts = await Promise.allSettled(lookup(name));
  const found = parts.flatMap((part) => (part.status === 'fulfilled' ? part.value : []));
  const failed = parts.find(({ status }) => status === 'rejected');
  if (found.length === 0 && failed?.status === 'rejected') throw failed.reason;
  return found;
}

const SIX = '2606:4700:0:0:0:0:0:1';

describe('by name servers', () => {
  const table = {
    'both.test': { a: ['1.1.1.1', '1.0.0.1'], aaaa: [SIX] },
    'four.test': { a: ['1.1.1.1'], aaaa: [] },
    'six.test': { a: [], aaaa: [SIX] },
    'half.test': { a: ['1.1.1.1'], aaaa: SERVFAIL },
    'none.test': { a: [], aaaa: [] },
    'broken.test': { a: SERVFAIL, aaaa: SERVFAIL },
  } satisfies Record<string, { a: Records; aaaa: Records }>;

  test.each([
    ['both.test', ['1.1.1.1', '1.0.0.1', '2606:4700::1']],
    ['four.test', ['1.1.1.1']],
    ['six.test', ['2606:4700::1']],
    ['half.test', ['1.1.1.1']],
  ])('%s has all its addresses, of both families', async (name, addresses) => {
    await using dns = await startDnsServer(table);
    const found = await ask(createLookup({ servers: [dns.server] }), name);
    expect([...found].sort()).toEqual(addresses.sort());
    expect(dns.questions).toContain(`A ${name}`);
    expect(dns.questions).toContain(`AAAA ${name}`);
  });

  test.each([
    ['none.test', 'ENODATA'],
    ['missing.test', 'ENOTFOUND'],
    ['broken.test', 'ESERVFAIL'],
  ])('%s fails with %s', async (name, code) => {
    await using dns = await startDnsServer(table);
    await expect(ask(createLookup({ servers: [dns.server] }), name)).rejects.toMatchObject({ code });
  });

  test('questions about one name that come at once are asked once', async () => {
    await using dns = await startDnsServer(table);
    const lookup = createLookup({ servers: [dns.server] });
    await Promise.all([ask(lookup, 'both.test'), ask(lookup, 'both.test'), ask(lookup, 'four.test')]);
    expect(dns.questions.sort()).toEqual(['A both.test', 'A four.test', 'AAAA both.test', 'AAAA four.test']);
    await ask(lookup, 'both.test');
    expect(dns.questions).toHaveLength(6);
  });

  test('a name that could not be found is asked for again by whoever needs it next', async () => {
    let asked = 0;
    const lookup = createLookup({ bySystem: true }, () =>
      ++asked === 1 ? Promise.reject(new Error('away')) : Promise.resolve(['1.1.1.1']),
    );
    await expect(ask(lookup, 'four.test')).rejects.toThrow('away');
    expect(await ask(lookup, 'four.test')).toEqual(['1.1.1.1']);
  });

  test.each(['localhost', 'LOCALHOST', 'localhost.', 'api.localhost', 'a.b.localhost', 'api.localhost.'])(
    '%s is this machine, and neither a server nor the system is asked',
    async (name) => {
      await using dns = await startDnsServer(table);
      const asked: string[] = [];
      const askSystem = (hostname: string) => {
        asked.push(hostname);
        return Promise.resolve(['1.1.1.1']);
      };
      const found = await ask(createLookup({ servers: [dns.server] }, askSystem), name);
      expect(found).toEqual(['127.0.0.1', '::1']);
      expect({ asked, questions: dns.questions }).toEqual({ asked: [], questions: [] });
    },
  );

  test('a name that only looks like localhost is asked for', async () => {
    await using dns = await startDnsServer({ 'notlocalhost.test': { a: ['1.1.1.1'], aaaa: [] } });
    const lookup = createLookup({ servers: [dns.server] });
    await expect(ask(lookup, 'mylocalhost')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    expect(dns.questions).toContain('A mylocalhost');
  });

  describe('a question that fails', () => {
    const ALL = { a: REFUSED, aaaa: REFUSED } satisfies { a: Records; aaaa: Records };

    test('because nobody is at the servers is the fault of the resolver', async () => {
      const dns = await startDnsServer({});
      await dns[Symbol.asyncDispose]();
      const lookup = createLookup({ servers: [dns.server] });
      await expect(ask(lookup, 'both.test')).rejects.toMatchObject({ reason: 'resolver_away', detail: 'ECONNREFUSED' });
      expect(await lookup.look()).toBe('silent');
    });

    test.each([
      ['REFUSED', REFUSED],
      ['SERVFAIL', SERVFAIL],
    ] as const)('with %s is the fault of the resolver when that is all it says', async (code, records) => {
      const own = { a: records, aaaa: records };
      await using dns = await startDnsServer({ 'both.test': own, '': own });
      const lookup = createLookup({ servers: [dns.server] });
      const failed = { reason: 'resolver_refuses', detail: `E${code}` };
      await expect(ask(lookup, 'both.test')).rejects.toMatchObject(failed);
      expect(await lookup.look()).toBe('refuses');
    });

    test('is the fault of the name when the resolver knows the root', async () => {
      await using dns = await startDnsServer({ 'both.test': ALL });
      await expect(ask(createLookup({ servers: [dns.server] }), 'both.test')).rejects.toMatchObject({
        code: 'EREFUSED',
      });
    });

    test('is the fault of the name when the resolver serves others, and tells nobody of the root', async () => {
      await using dns = await startDnsServer({ ...table, 'refused.test': ALL, '': ALL });
      const lookup = createLookup({ servers: [dns.server] });
      await ask(lookup, 'both.test');
      await expect(ask(lookup, 'refused.test')).rejects.toMatchObject({ code: 'EREFUSED' });
    });
  });

  describe('a name whose servers are silent', () => {
    type Own = 'tells' | 'refuses' | 'drops';
    const SAY: Record<Own, Records> = { tells: [], refuses: REFUSED, drops: NO_ANSWER };
    const both = (records: Records) => ({ a: records, aaaa: records });

    /** A resolver that has one live name and one dead one. It is asked without a second try. */
    async function startResolver(root: Own) {
      const records: Table = { 'live.test': both(['1.1.1.1']), 'dead.test': both(NO_ANSWER) };
      const say = (own: Own) => {
        records[''] = both(SAY[own]);
      };
      say(root);
      const dns = await startDnsServer(records);
      return {
        dns,
        say,
        die: () => {
          records['live.test'] = both(NO_ANSWER);
          say('drops');
        },
        revive: () => {
          records['live.test'] = both(['1.1.1.1']);
          say(root);
        },
        [Symbol.asyncDispose]: dns[Symbol.asyncDispose],
      };
    }
    const createQuickLookup = (...servers: string[]) =>
      createLookup({ servers }, undefined, () => new Resolver({ timeout: 500, tries: 1 }));

    /** Whose fault it is that a name wasn't found. */
    const askWhose = async (lookup: ReturnType<typeof createQuickLookup>, name: string): Promise<string> => {
      const askedAt = performance.now();
      const told = await ask(lookup, name).then(
        () => 'found',
        (error: unknown) => (error as { reason?: string }).reason ?? 'the name',
      );
      // It says the same when the deadline of a send comes first.
      if (told !== 'found') expect(lookup.isSilentSince(askedAt)).toBe(told === 'resolver_away');
      return told;
    };

    type Resolving = Awaited<ReturnType<typeof startResolver>>;
    test.each<{
      when: string;
      root: Own;
      before?: string[];
      then?: (it: Resolving) => void;
      name: string;
      told: string;
    }>([
      { when: 'tells of the root', root: 'tells', name: 'dead.test', told: 'the name' },
      {
        when: 'tells of the root, and serves',
        root: 'tells',
        before: ['live.test'],
        name: 'dead.test',
        told: 'the name',
      },
      {
        when: 'refuses to tell, and serves',
        root: 'refuses',
        before: ['live.test'],
        name: 'dead.test',
        told: 'the name',
      },
      {
        when: 'drops the question, and serves',
        root: 'drops',
        before: ['live.test'],
        name: 'dead.test',
        told: 'the name',
      },
      {
        when: 'drops the question, and has said that there is no such name',
        root: 'drops',
        before: ['none.test'],
        name: 'dead.test',
        told: 'the name',
      },
      { when: 'drops the question, and served nobody yet', root: 'drops', name: 'dead.test', told: 'resolver_away' },
      {
        when: 'has served nobody, and is silent',
        root: 'tells',
        then: (it) => {
          it.die();
        },
        name: 'live.test',
        told: 'resolver_away',
      },
      {
        when: 'told of the root, served, and is silent',
        root: 'tells',
        before: ['live.test'],
        then: (it) => {
          it.die();
        },
        name: 'live.test',
        told: 'resolver_away',
      },
      {
        when: 'refused to tell, served, and is silent',
        root: 'refuses',
        before: ['live.test'],
        then: (it) => {
          it.die();
        },
        name: 'live.test',
        told: 'the name',
      },
      {
        when: 'dropped the question, served, and is silent',
        root: 'drops',
        before: ['live.test'],
        then: (it) => {
          it.die();
        },
        name: 'live.test',
        told: 'the name',
      },
    ])('at a resolver that $when: $told', async ({ root, before = [], then, name, told }) => {
      await using resolver = await startResolver(root);
      const lookup = createQuickLookup(resolver.dns.server);
      for (const each of before) await ask(lookup, each).catch(() => undefined);
      // It was asked of the root when it first served: so this one ends after that.
      if (before.length > 0) await lookup.look();
      then?.(resolver);
      expect(await askWhose(lookup, name)).toBe(told);
    });

    test('at a resolver that served nobody yet is held against it until it finds a name', async () => {
      await using resolver = await startResolver('drops');
      const lookup = createQuickLookup(resolver.dns.server);
      expect(await askWhose(lookup, 'dead.test')).toBe('resolver_away');
      expect(await askWhose(lookup, 'live.test')).toBe('found');
      expect(await askWhose(lookup, 'dead.test')).toBe('the name');
    });

    test('is at fault itself once the resolver tells of the root no more, and finds others', async () => {
      await using resolver = await startResolver('tells');
      const lookup = createQuickLookup(resolver.dns.server);
      await ask(lookup, 'live.test');
      await lookup.look();
      resolver.say('drops');
      const looking = lookup.look();
      await ask(lookup, 'live.test');
      await looking;
      // What is found next asks once more.
      await ask(lookup, 'live.test');
      await lookup.look();
      expect(await askWhose(lookup, 'dead.test')).toBe('the name');
    });

    test('is at fault itself when the server that told of the root is gone, and another serves', async () => {
      await using teller = await startResolver('tells');
      await using other = await startResolver('drops');
      const lookup = createQuickLookup(teller.dns.server, other.dns.server);
      await ask(lookup, 'live.test');
      await lookup.look();
      teller.die();
      const silent = askWhose(lookup, 'dead.test');
      await ask(lookup, 'live.test');
      expect(await silent).toBe('the name');
    });

    test('a resolver that told of the root is found out each time that it is away', async () => {
      await using resolver = await startResolver('tells');
      const lookup = createQuickLookup(resolver.dns.server);
      for (let outage = 0; outage < 2; outage++) {
        expect(await askWhose(lookup, 'live.test')).toBe('found');
        await lookup.look();
        resolver.die();
        expect(await askWhose(lookup, 'live.test')).toBe('resolver_away');
        resolver.revive();
      }
    });
  });

  test.each([
    ['answers', table, 'resolver_away'],
    [
      'tells anything',
      { 'both.test': { a: REFUSED, aaaa: REFUSED }, '': { a: REFUSED, aaaa: REFUSED } },
      'resolver_refuses',
    ],
  ] as const)(
    'the servers that the system has by now are asked when none of the former %s',
    async (_what, records, reason) => {
      const former = await startDnsServer(records);
      if (reason === 'resolver_away') await former[Symbol.asyncDispose]();
      await using later = await startDnsServer(table);
      let ofSystem = former.server;
      const lookup = createLookup({}, undefined, () => {
        const resolver = new Resolver({ timeout: 500, tries: 1 });
        resolver.setServers([ofSystem]);
        return resolver;
      });
      await expect(ask(lookup, 'both.test')).rejects.toMatchObject({ reason });
      ofSystem = later.server;
      // It was asked of the former ones, so it is no fault of the name.
      await expect(ask(lookup, 'both.test')).rejects.toMatchObject({ reason: 'resolver_away' });
      expect(await ask(lookup, 'both.test')).toContain('1.1.1.1');
      if (reason !== 'resolver_away') await former[Symbol.asyncDispose]();
    },
  );

  test('a server that is no address is refused at once', () => {
    expect(() => createLookup({ servers: ['dns.example.com'] })).toThrow('dns.example.com');
  });
});

test('the system answers when it is asked to', async () => {
  const found = await ask(createLookup({ bySystem: true }), 'localhost');
  expect(found).toContain('127.0.0.1');
});
