import { readApiConfig } from './api-config.ts';

const ENV = {
  SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
  ACTION_URL_TEMPLATE: 'https://app.example.com/tasks/{taskId}',
};

test.each([
  ['https://herald.example.com', 'https://herald.example.com'],
  ['https://example.com/hooks/', 'https://example.com/hooks'],
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
  ['', undefined],
])('PUBLIC_URL=%s', (PUBLIC_URL, publicUrl) => {
  expect(readApiConfig({ ...ENV, PUBLIC_URL }).publicUrl).toBe(publicUrl);
});

test.each([
  'herald.example.com',
  'ftp://example.com',
  'https://example.com/?a=1',
  'https://example.com/#a',
  'https://user:word@example.com',
])('PUBLIC_URL=%s is refused', (PUBLIC_URL) => {
  expect(() => readApiConfig({ ...ENV, PUBLIC_URL })).toThrow('PUBLIC_URL must be a url such as');
});
