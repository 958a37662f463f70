import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { ConfigError } from './env.ts';
import { listen } from './listen.ts';

const VARIABLES = { port: 'SOME_PORT', host: 'SOME_HOST' };

/** The sentence with which listening is refused. */
async function refusalAt(server: Server, address: { host: string; port: number }): Promise<string> {
  const refused: unknown = await listen(server, address, VARIABLES).catch((error: unknown) => error);
  if (refused instanceof ConfigError) return refused.message;
  throw new Error(`not refused as a configuration: ${String(refused)}`);
}

test('a free port is listened on, and told', async () => {
  await using server = createServer();
  const port = await listen(server, { host: '127.0.0.1', port: 0 }, VARIABLES);
  expect((server.address() as AddressInfo).port).toBe(port);
});

test('a taken port is one sentence that names the variable to set', async () => {
  await using other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  expect(await refusalAt(createServer(), { host: '127.0.0.1', port })).toBe(
    `Port ${port} is taken on 127.0.0.1. Set SOME_PORT to a free one.`,
  );
});

test('an address of another machine is one sentence', async () => {
  expect(await refusalAt(createServer(), { host: '192.0.2.1', port: 0 })).toMatch(
    /^This machine has no address 192\.0\.2\.1 to listen on\. Set SOME_HOST to /,
  );
});

// The system's refusal is played: root may have any port, and a look-up may take long.
test.each([
  ['EACCES', 'This user may not listen on port 80 of localhost. Set SOME_PORT to one from 1024 on.'],
  ['ENOTFOUND', 'This machine has no address localhost to listen on. Set SOME_HOST to one that it has'],
])('%s is one sentence', async (code, sentence) => {
  const server = createServer();
  server.listen = () => {
    process.nextTick(() => server.emit('error', Object.assign(new Error(`listen ${code}`), { code })));
    return server;
  };
  expect(await refusalAt(server, { host: 'localhost', port: 80 })).toContain(sentence);
});

test('any other failure is thrown as it is', async () => {
  await using server = createServer();
  await listen(server, { host: '127.0.0.1', port: 0 }, VARIABLES);
  await expect(listen(server, { host: '127.0.0.1', port: 0 }, VARIABLES)).rejects.toMatchObject({
    code: 'ERR_SERVER_ALREADY_LISTEN',
  });
});
