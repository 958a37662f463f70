import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ATTEMPT_ERRORS,
  codesOf,
  createSigningKey,
  deliveryIdOf,
  newSigningSecret,
  RECEIVER_LIMIT,
  signatureHeaders,
} from '@herald/core';
import { renderReceivingPage } from './receiving-page.ts';

const page = renderReceivingPage();

test('the page names the limit, every wait of the schedule, every header, every code and the ways out of being disabled', () => {
  const id = deliveryIdOf('trn_a', 'wh_a');
  const keys = { current: createSigningKey(newSigningSecret()) };
  const headers = signatureHeaders({ id, event: 'task.done', body: Buffer.from('{}'), now: 0 }, keys);
  const waits = [
    '5 seconds',
    '5 minutes',
    '30 minutes',
    ...['2', '5', '10', '14', '20'].map((n) => `${n} hours`),
    '1 day',
  ];
  for (const name of [...Object.keys(headers), ...codesOf(ATTEMPT_ERRORS)]) {
    expect(page).toContain(`<code>${name}</code>`);
  }
  expect(
    [...page.matchAll(/<tr><td>(\d+)<\/td><td>([^<]+)<\/td><\/tr>/g)].map(([, n, wait]) => [Number(n), wait]),
  ).toEqual(waits.map((wait, index) => [index + 2, wait]));
  expect(page).toContain(`at most ${RECEIVER_LIMIT} receivers`);
  for (const way of ['PATCH /api/public/webhooks/{id}', 'PATCH /tasks/{id}/callback']) {
    expect(page).toContain(`<code>${way}</code>`);
  }
  for (const field of ['headers', 'maxRetryHours']) expect(page).toContain(`<code>${field}</code>`);
  expect(page).toMatch(/within 15 seconds[^]*±20 %[^]*later than 5 days[^]*least 10 failures/);
});

test('the receivers of the kits are there to copy, in five languages, and no command names a package of a public registry', () => {
  const readmes = ['receiver', 'receiver-python'].map((kit) =>
    readFileSync(join(import.meta.dirname, `../../../../packages/${kit}/README.md`), 'utf8'),
  );
  // Those that send or check by hand are no receivers.
  const names = [...readmes.join('').matchAll(/<!-- example: (\S+(?<!\.sh)) -->/g)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(15);
  const examples = Object.fromEntries(names.map((name) => [name, `<${name}>`]));
  const shown = renderReceivingPage({ files: new Map(), nodeName: 'kit.tgz', pythonName: 'kit.whl', examples });
  for (const code of Object.values(examples))
    expect(shown).toContain(`<code>${code.replace('<', '&lt;').replace('>', '&gt;')}</code>`);
  expect([...shown.matchAll(/(?:npm install|pip install) (\S+)/g)].map(([, what]) => what)).toEqual([
    '{{origin}}/kit/kit.tgz',
    '{{origin}}/kit/kit.whl',
    '{{origin}}/kit/kit.tgz',
  ]);
  expect(shown).toContain('npx --no-install herald-receiver listen');
  expect(shown).not.toMatch(/npx (?!--no-install)|npm install (?:@herald|herald)/);
  expect(page).toContain('npm run build');
});
