import {
  ATTEMPT_ERRORS,
  codesOf,
  createSigningKey,
  deliveryIdOf,
  newSigningSecret,
  RECEIVER_LIMIT,
  signatureHeaders,
} from '@herald/core';
import { renderReceivingPage, VERIFY_EXAMPLE } from './receiving-page.ts';

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

test('the example verifies what Herald signs, and nothing else', async () => {
  const source = Buffer.from(VERIFY_EXAMPLE).toString('base64');
  const { isGenuine } = (await import(`data:text/javascript;base64,${source}`)) as {
    isGenuine: (rawBody: Buffer, signature: string | undefined, secret: string) => boolean;
  };
  const secret = newSigningSecret();
  const body = Buffer.from('{"event":"task.done"}');
  const id = deliveryIdOf('trn_a', 'wh_a');
  const headers = signatureHeaders({ id, event: 'task.done', body, now: 0 }, { current: createSigningKey(secret) });
  const signature = headers['x-service-signature'];
  expect(isGenuine(body, signature, secret)).toBe(true);
  expect(isGenuine(Buffer.from('{}'), signature, secret)).toBe(false);
  expect(isGenuine(body, signature.toUpperCase(), secret)).toBe(false);
  expect(isGenuine(body, signature, newSigningSecret())).toBe(false);
  expect(isGenuine(body, signature.slice(1), secret)).toBe(false);
  expect(isGenuine(body, undefined, secret)).toBe(false);
});
