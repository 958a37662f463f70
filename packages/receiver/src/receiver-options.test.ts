import { createRefusalWarning } from './receiver-options.ts';

test('a refusal is printed with its check, once in ten seconds for each, and the next line counts the others', () => {
  const lines: string[] = [];
  let now = 0;
  const warn = createRefusalWarning(
    (line) => lines.push(line),
    () => now,
  );
  const refuse = (reason: 'service_signature_wrong' | 'body_too_large', deliveryId?: string) => {
    warn({ reason, detail: 'why', status: 401, path: '/hooks', ...(deliveryId !== undefined && { deliveryId }) });
  };
  refuse('service_signature_wrong', 'dlv_1');
  refuse('service_signature_wrong');
  refuse('body_too_large');
  now = 9_999;
  refuse('service_signature_wrong');
  now = 10_000;
  refuse('service_signature_wrong', 'x\nA line of a stranger');
  expect(lines).toEqual([
    'The webhook "dlv_1" to "/hooks" was refused (service_signature_wrong): why',
    'A webhook to "/hooks" was refused (body_too_large): why',
    'The webhook "x\\nA line of a stranger" to "/hooks" was refused (service_signature_wrong): why (and 2 more for this reason)',
  ]);
});
