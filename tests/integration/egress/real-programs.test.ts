import { createEgressSender, type EgressSender } from '@herald/egress/create-egress';
import {
  createCertificateAuthority,
  findExecutable,
  freePort,
  launchProcess,
  waitFor,
  type CertificateAuthority,
  type LaunchOptions,
} from '@herald/test-kit';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

// Receivers as customers run them. Those whose programs this machine lacks are left out: Debian has haproxy, stunnel4,
// nginx-light, php-cli, puma and ruby-rack; pip has django, gunicorn and flask.

type Place = {
  readonly folder: string;
  readonly port: number;
  /** Of a program behind another that has the certificate. */
  readonly backend: number;
  readonly certificate: string;
  readonly key: string;
  /** Certificate and key in one file. */
  readonly both: string;
};
type Program = Pick<LaunchOptions, 'command'> & { readonly args: readonly string[] };
type Receiver = {
  readonly commands: readonly string[];
  /** Modules of Python. */
  readonly modules?: readonly string[];
  readonly files: (place: Place) => Readonly<Record<string, string>>;
  readonly programs: (place: Place) => readonly Program[];
  readonly status: number;
  /** What may be odd behind it. Some releases are, and others of the same program are not. */
  readonly oddity?: string;
};

const DJANGO = /* python */ `
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

settings.configure(
    ALLOWED_HOSTS=['*'],
    MIDDLEWARE=['django.middleware.common.CommonMiddleware'],
    ROOT_URLCONF=__name__,
    SECRET_KEY='of a test',
)

@csrf_exempt
def receive(request):
    request.body
    return HttpResponse('OK', status=204)

urlpatterns = [path('hook', receive)]
application = get_wsgi_application()
`;

const FLASK = /* python */ `
import sys
from flask import Flask, request

app = Flask(__name__)

@app.post('/hook')
def receive():
    request.get_json()
    return 'OK'

app.run(port=int(sys.argv[1]), ssl_context=(sys.argv[2], sys.argv[3]))
`;

/** It tells a length, and its warning comes behind that. */
const PHP = /* php */ `<?php
file_get_contents('php://input');
header('Content-Length: 11');
echo '{"ok":true}';
echo "\nWarning: Undefined variable in receiver.php on line 6\n";
`;

const RACK = /* ruby */ `run ->(env) { env['rack.input'].read; [200, { 'content-type' => 'text/plain' }, ['OK']] }\n`;

const gunicorn = ({ backend, folder }: Place): Program => ({
  command: 'python3',
  args: ['-m', 'gunicorn', '--chdir', folder, '--bind', `127.0.0.1:${backend}`, '--threads', '10', 'receiver'],
});
const stunnel = ({ folder }: Place): Program => ({ command: 'stunnel4', args: [join(folder, 'stunnel.conf')] });
const stunnelFiles = ({ port, backend, both }: Place) => ({
  'stunnel.conf': [
    'foreground = yes',
    'pid =',
    '[https]',
    `accept = 127.0.0.1:${port}`,
    `connect = 127.0.0.1:${backend}`,
    `cert = ${both}`,
    '',
  ].join('\n'),
});

const RECEIVERS: Readonly<Record<string, Receiver>> = {
  'Django on gunicorn behind haproxy in TCP mode': {
    commands: ['haproxy', 'python3'],
    modules: ['django', 'gunicorn'],
    files: ({ port, backend, both }) => ({
      'receiver.py': DJANGO,
      'haproxy.cfg': [
        'defaults',
        '  mode tcp',
        '  timeout connect 5s',
        '  timeout client 10s',
        '  timeout server 10s',
        'listen https',
        `  bind 127.0.0.1:${port} ssl crt ${both}`,
        `  server one 127.0.0.1:${backend}`,
        '',
      ].join('\n'),
    }),
    programs: (place) => [gunicorn(place), { command: 'haproxy', args: ['-f', join(place.folder, 'haproxy.cfg')] }],
    status: 204,
    oddity: 'body_not_allowed',
  },
  'Django on gunicorn behind stunnel': {
    commands: ['stunnel4', 'python3'],
    modules: ['django', 'gunicorn'],
    files: (place) => ({ 'receiver.py': DJANGO, ...stunnelFiles(place) }),
    programs: (place) => [gunicorn(place), stunnel(place)],
    status: 204,
    oddity: 'body_not_allowed',
  },
  "PHP's server behind stunnel, with a warning behind its JSON": {
    commands: ['php', 'stunnel4'],
    files: (place) => ({ 'receiver.php': PHP, ...stunnelFiles(place) }),
    programs: (place) => [
      { command: 'php', args: ['-S', `127.0.0.1:${place.backend}`, join(place.folder, 'receiver.php')] },
      stunnel(place),
    ],
    status: 200,
    oddity: 'extra_bytes',
  },
  "Flask's own server": {
    commands: ['python3'],
    modules: ['flask', 'ssl'],
    files: () => ({ 'receiver.py': FLASK }),
    programs: ({ folder, port, certificate, key }) => [
      { command: 'python3', args: [join(folder, 'receiver.py'), String(port), certificate, key] },
    ],
    status: 200,
  },
  'puma with TLS of its own': {
    commands: ['puma'],
    files: () => ({ 'config.ru': RACK }),
    programs: ({ folder, port, certificate, key }) => [
      {
        command: 'puma',
        args: ['-b', `ssl://127.0.0.1:${port}?cert=${certificate}&key=${key}`, join(folder, 'config.ru')],
      },
    ],
    status: 200,
  },
  'nginx, which closes connections after three requests and when they are unused for a second': {
    commands: ['nginx'],
    files: ({ folder, port, certificate, key }) => ({
      'nginx.conf': [
        'daemon off;',
        'master_process off;',
        `pid ${folder}/nginx.pid;`,
        'error_log stderr;',
        'events {}',
        'http {',
        '  access_log off;',
        `  client_body_temp_path ${folder};`,
        '  keepalive_requests 3;',
        '  keepalive_timeout 1s;',
        '  server {',
        `    listen 127.0.0.1:${port} ssl;`,
        `    ssl_certificate ${certificate};`,
        `    ssl_certificate_key ${key};`,
        '    location / { return 200 "OK"; }',
        '  }',
        '}',
        '',
      ].join('\n'),
    }),
    programs: ({ folder }) => [{ command: 'nginx', args: ['-p', folder, '-c', join(folder, 'nginx.conf')] }],
    status: 200,
  },
};

const SENDS = 100;
const AT_ONCE = 10;

function isHere({ commands, modules = [] }: Receiver): boolean {
  if (!commands.every((name) => findExecutable(name))) return false;
  return modules.length === 0 || spawnSync('python3', ['-c', `import ${modules.join(', ')}`]).status === 0;
}

async function startPrograms(programs: readonly Program[], ports: readonly number[]) {
  await using starting = new AsyncDisposableStack();
  for (const [index, { command, args }] of programs.entries()) {
    const program = starting.use(await launchProcess({ name: command, command, args, env: { HOME: homedir() } }));
    await waitFor(
      `${command} to listen`,
      () => {
        if (program.hasExited()) throw new Error(`${command} has ended\n${program.tail()}`);
        return isListening(ports[index] ?? 0);
      },
      { deadlineMs: 30_000 },
    );
  }
  return starting.move();
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Sends all, and tells which statuses and which oddities came. */
async function sendAll(sender: EgressSender, url: string) {
  const statuses: number[] = [];
  const oddities = new Set<string | undefined>();
  const send = async (): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    const { outcome } = await sender.send({ url, headers, body: Buffer.from('{"event":"task.done"}') });
    if (outcome.kind !== 'responded') throw new Error(`no answer: ${JSON.stringify(outcome)}`);
    statuses.push(outcome.status);
    oddities.add(outcome.bodyNote);
  };
  for (let sent = 0; sent < SENDS; sent += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, send));
  return { statuses, oddities };
}

let authority: CertificateAuthority;
let folder: string;
beforeAll(async () => {
  authority = await createCertificateAuthority();
  folder = await mkdtemp(join(tmpdir(), 'herald-programs-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

for (const [name, receiver] of Object.entries(RECEIVERS)) {
  const describeIfHere = isHere(receiver) ? describe : describe.skip;
  describeIfHere(name, () => {
    test('gets a hundred events, and each is delivered', async () => {
      const { certPem, keyPem } = await authority.issueCertificate({ hosts: ['127.0.0.1'] });
      const [port, backend] = [await freePort(), await freePort()];
      const [certificate, key, both] = ['certificate.pem', 'key.pem', 'both.pem'].map((file) => join(folder, file));
      const place = { folder, port, backend, certificate, key, both } as Place;
      const certificates = {
        'certificate.pem': certPem,
        'key.pem': keyPem,
        'both.pem': `${certPem.trim()}\n${keyPem}`,
      };
      for (const [file, text] of Object.entries({ ...certificates, ...receiver.files(place) })) {
        await writeFile(join(folder, file), text);
      }
      await using cleanUp = new AsyncDisposableStack();
      const programs = receiver.programs(place);
      cleanUp.use(await startPrograms(programs, programs.length === 1 ? [port] : [backend, port]));
      const egress = { allowCidrs: ['127.0.0.0/8'], caPem: authority.certPem, names: {}, deadlineMs: 15_000 };
      const sender = createEgressSender(egress);
      cleanUp.defer(sender.close);
      const { statuses, oddities } = await sendAll(sender, `https://127.0.0.1:${port}/hook`);
      expect(statuses).toEqual(Array.from({ length: SENDS }, () => receiver.status));
      expect([undefined, receiver.oddity]).toEqual(expect.arrayContaining([...oddities]));
    }, 60_000);
  });
}
