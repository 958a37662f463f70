import { createSigningKey, newSigningSecret, signatureHeaders } from '@herald/core';
import { sign } from '@herald/receiver';
import { findExecutable, freePort, startProcess, waitFor, type RunningProcess } from '@herald/test-kit';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readExample } from './read-example.ts';

jest.setTimeout(180_000);

/** A receiver of the README that is written without a kit. */
type Program = {
  readonly example: string;
  readonly needs: string;
  /** Makes what is run of it, once. */
  readonly make?: readonly string[];
  readonly run: (port: number, folder: string) => readonly [command: string, ...args: string[]];
};

const PROGRAMS: readonly Program[] = [
  { example: 'receiver.py', needs: 'python3', run: () => ['python3', 'receiver.py'] },
  {
    example: 'receiver.go',
    needs: 'go',
    make: ['build', '-o', 'receiver', 'receiver.go'],
    run: (_port, folder) => [join(folder, 'receiver')],
  },
  { example: 'config.ru', needs: 'puma', run: (port) => ['puma', '-b', `tcp://127.0.0.1:${port}`, 'config.ru'] },
  {
    example: 'receiver.php',
    needs: 'php',
    run: (port) => [
      'php',
      '-d',
      'display_errors=1',
      '-d',
      'output_buffering=0',
      '-S',
      `127.0.0.1:${port}`,
      'receiver.php',
    ],
  },
];

const SECRET = newSigningSecret();
const BODY = '{"id":"trn_1","event":"task.done","created_at":"2030-01-01T00:00:00.000Z"}';
/**
 * So often each delivery is sent at once, half to each process. Python's server has room for five new connections: what
 * finds none is tried again after one, three and seven seconds.
 */
const REPEATS = 8;
const IS_UP = /listening on|Development Server/i;

/** Each is signed with the right secret. */
const NO_EVENTS = [
  ...['', 'nonsense', 'null', '[]', '[["event"]]', '"event"', '5', 'true', '{}', '{"event":5}', '{"event":null}'],
  ...[`${BODY}}`, BODY.slice(1), BODY.slice(0, -1), '['.repeat(100_000), '{"event":'.repeat(20_000)],
].map((body) => Buffer.from(body));
NO_EVENTS.push(Buffer.from([0xff, 0xfe, 0x00]), Buffer.from('{"event":"task.done\xff"}', 'latin1'));

type Running = AsyncDisposable & {
  send(headers: Record<string, string>, body?: string | Buffer): Promise<number>;
  readonly process: RunningProcess;
};

async function start(folder: string, { run }: Program, env: Record<string, string> = {}): Promise<Running> {
  const port = await freePort();
  const [command, ...args] = run(port, folder);
  const process = await startProcess({
    name: command,
    command,
    args,
    cwd: folder,
    // As variables and files have it.
    env: { HERALD_SECRETS: ` ${SECRET}\n`, PORT: String(port), STORE: join(folder, 'store'), HOME: folder, ...env },
    readyWhen: (line) => IS_UP.test(line),
    readyDeadlineMs: 60_000,
  });
  return {
    process,
    async send(headers, body = BODY) {
      const answer = await fetch(`http://127.0.0.1:${port}/hooks/herald`, {
        method: 'POST',
        headers,
        body: new Uint8Array(Buffer.from(body)),
      });
      await answer.arrayBuffer();
      return answer.status;
    },
    [Symbol.asyncDispose]: () => process[Symbol.asyncDispose](),
  };
}

const signed = (id: string, body: string | Buffer = BODY) => sign({ rawBody: body, secret: SECRET, id });
const printedBy = (...running: Running[]) =>
  running.flatMap(({ process }) => [...process.output().matchAll(/processed (\w+)/g)].map(([, id = '']) => id));

for (const program of PROGRAMS) {
  const { example, needs, make } = program;
  if (findExecutable(needs) === undefined) {
    test.todo(`the receiver ${example} of the README runs, which is not done: ${needs} is not on the PATH`);
    continue;
  }

  describe(`the receiver ${example} of the README`, () => {
    let folder: string;
    let both: [Running, Running];
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'herald-by-hand-'));
      await writeFile(join(folder, example), await readExample(example));
      if (make) {
        const env = { HOME: process.env.HOME ?? folder, GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod' };
        await using made = await startProcess({ name: needs, command: needs, args: make, cwd: folder, env });
        if ((await made.exited).code !== 0) throw new Error(made.tail());
      }
      both = [await start(folder, program), await start(folder, program)];
    });
    afterAll(async () => {
      await Promise.all(both.map((each) => each[Symbol.asyncDispose]()));
      await rm(folder, { recursive: true });
    });

    test('two processes under 200 repeated deliveries process each once, and lose none', async () => {
      const ids = Array.from({ length: 25 }, (_, index) => `dlv_${index}`);
      let missing = ids.flatMap((id) => Array.from({ length: REPEATS }, () => id));
      const met = new Set<number>();
      const sendEach = async (sent: readonly string[]) => {
        const sends = sent.map(async (id, index) => {
          const status = await both[index % 2 === 0 ? 0 : 1].send(signed(id));
          met.add(status);
          return status === 200 ? [] : [id];
        });
        return (await Promise.all(sends)).flat();
      };
      const sendAll = async () => {
        const refused: string[] = [];
        for (let at = 0; at < missing.length; at += REPEATS) {
          refused.push(...(await sendEach(missing.slice(at, at + REPEATS))));
        }
        missing = refused;
        return missing.length === 0;
      };
      await waitFor('all of them', sendAll, 30_000);
      expect([...met].filter((status) => status !== 200 && status !== 409)).toEqual([]);
      await waitFor('their output', () => new Set(printedBy(...both)).size >= ids.length);
      expect(printedBy(...both).sort()).toEqual([...ids].sort());
    });

    test('acknowledges nothing that is forged', async () => {
      const [one] = both;
      const { 'x-service-signature': _service, ...withoutService } = signed('dlv_f1');
      const { 'webhook-signature': _standard, ...withoutStandard } = signed('dlv_f2');
      const forged = [
        {},
        withoutService,
        withoutStandard,
        { ...signed('dlv_f3'), 'webhook-id': 'dlv_x', 'x-service-delivery': 'dlv_x' },
        sign({ rawBody: BODY, secret: newSigningSecret(), id: 'dlv_f4' }),
        sign({ rawBody: BODY, secret: SECRET, id: 'dlv_f5', nowMs: Date.now() - 360_000 }),
        signed('dlv_f6', `${BODY} `),
        sign({ rawBody: BODY, secret: SECRET, id: 'x'.repeat(129) }),
      ];
      expect(await Promise.all(forged.map((headers) => one.send(headers)))).toEqual(forged.map(() => 401));
      expect(printedBy(...both).filter((id) => id.startsWith('dlv_f'))).toEqual([]);
    });

    test('acknowledges no signed body that it can’t read, and none of them ends it', async () => {
      const [one] = both;
      const answers: [string, number][] = [];
      for (const [index, body] of NO_EVENTS.entries()) {
        answers.push([String(body.subarray(0, 30)), await one.send(signed(`dlv_bad${index}`, body), body)]);
      }
      expect(answers).toEqual(NO_EVENTS.map((body) => [String(body.subarray(0, 30)), 400]));
      expect(await one.send(signed('dlv_good'))).toBe(200);
    });

    test('acknowledges nothing while its store can’t be written', async () => {
      const blocked = join(folder, 'blocked');
      await writeFile(blocked, 'a file where a folder should be');
      const answer = await askOne({ STORE: join(blocked, 'store') }, signed('dlv_blocked'));
      expect(answer).toMatch(/^500$|not a directory/);
    });

    test('lets nobody in with secrets that are not whole, whoever guesses them', async () => {
      const broken = ['', ',', 'whsec_', `${SECRET},`, `${SECRET} x`];
      const headersOf = (secret: string) =>
        signatureHeaders(
          { id: 'dlv_guess', event: 'task.done', body: Buffer.from(BODY), now: Date.now() },
          { current: createSigningKey(secret) },
        );
      const guesses = broken.map((given) => askOne({ HERALD_SECRETS: given }, headersOf(given.replace(',', ''))));
      for (const answer of await Promise.all(guesses)) expect(answer).toMatch(/^500$|HERALD_SECRETS must be whole/);
      expect(printedBy(...both)).not.toContain('dlv_guess');
    });

    /** The status of an answer, or what one prints that doesn't start. */
    async function askOne(env: Record<string, string>, headers: Record<string, string>): Promise<string> {
      try {
        await using running = await start(folder, program, env);
        return String(await running.send(headers));
      } catch (error) {
        return String(error);
      }
    }
  });
}
