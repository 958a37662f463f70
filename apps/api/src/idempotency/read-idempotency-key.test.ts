import { ValidationError } from '@herald/core';
import { readIdempotencyKey } from './read-idempotency-key.ts';

const read = (...values: string[]) =>
  readIdempotencyKey(
    values.length > 0
      ? { headers: { 'idempotency-key': values.join(', ') }, headersDistinct: { 'idempotency-key': values } }
      : { headers: {}, headersDistinct: {} },
  );

test('without the header there is no key', () => {
  expect(read()).toBeUndefined();
});

test.each([
  ['a plain key', 'order-42', 'order-42'],
  ['a UUID', '8e03978e-40d5-43dd-bc93-6894a57f9324', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
  ['one character', '!', '!'],
  ['255 characters', 'k'.repeat(255), 'k'.repeat(255)],
  ['the form of the IETF draft', '"order-42"', 'order-42'],
  ['escapes inside quotes', String.raw`"a\"b\\c"`, String.raw`a"b\c`],
  ['255 characters inside quotes', `"${'k'.repeat(255)}"`, 'k'.repeat(255)],
  ['a quote that does not begin it', 'a"b', 'a"b'],
])('%s is read', (_name, text, key) => {
  expect(read(text)).toBe(key);
});

test.each([
  ['nothing', ['']],
  ['empty quotes', ['""']],
  ['256 characters', ['k'.repeat(256)]],
  ['a space', ['order 42']],
  ['a space inside quotes', ['"order 42"']],
  ['a quote that is not closed', ['"order']],
  ['a quote that ends too early', ['"a"b"']],
  ['an unknown escape', [String.raw`"a\b"`]],
  ['parameters', ['"order";v=1']],
  ['a control character', ['order\u0001']],
  ['a letter beyond ASCII', ['órder']],
  ['the header twice', ['order', 'order']],
])('%s is refused, and the message names the header', (_name, values) => {
  expect(() => read(...values)).toThrow(ValidationError);
  expect(() => read(...values)).toThrow(/^Idempotency-Key must be /);
});
