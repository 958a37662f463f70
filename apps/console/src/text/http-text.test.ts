import { execFileSync } from 'node:child_process';
import { curlText, statusText } from './http-text.ts';
import { cutUrl } from './foreign-text.ts';

const BODY = `{"text":"it's \\"quoted\\" $HOME \`id\` \\\\ !"}`;
const REQUEST = {
  url: "https://hooks.example.com/it's?a=1&b=$(id)",
  headers: { host: 'hooks.example.com', 'content-length': '9', 'x-service-event': 'task.done' },
  omittedHeaders: ['x-service-signature'],
  body: BODY,
};

test('the shell gives curl each word as it is, whatever is in it', () => {
  const command = curlText(REQUEST).replace(/^curl/, `printf '%s\\n'`);
  const words = execFileSync('/bin/sh', ['-c', command], { encoding: 'utf8' }).trimEnd().split('\n');
  expect(words).toEqual([
    '-sS',
    '-X',
    'POST',
    REQUEST.url,
    '-H',
    'x-service-event: task.done',
    '-H',
    'x-service-signature: <x-service-signature>',
    '--data-binary',
    BODY,
  ]);
});

test.each([
  ['https://a.example:8443/path?q', 'a.example:8443', '/path?q'],
  ['https://a.example', 'a.example', ''],
  ['no url', 'no url', ''],
])('%s is cut into host and path', (url, host, path) => {
  expect(cutUrl(url)).toEqual({ host, path });
});

test('a status has its name, if it has one', () => {
  expect([statusText(503), statusText(599)]).toEqual(['503 Service Unavailable', '599']);
});
