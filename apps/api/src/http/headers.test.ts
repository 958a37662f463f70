import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createAllowOrigins, createSecurityHeaders } from './headers.ts';

const PAGE = 'https://app.example.com';

/** What a browser is told that asks from such a page. */
async function ask(origins: readonly string[], method: string, headers: Record<string, string>) {
  const app = express().use(createSecurityHeaders(), createAllowOrigins(origins));
  const server = createServer(app.use((_req, res) => res.status(401).end())).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/tasks`, { method, headers });
    const told = [...answer.headers].filter(([name]) => /^(access-control|vary|cross-origin)/.test(name));
    return { status: answer.status, told: Object.fromEntries(told) };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const PREFLIGHT = {
  origin: PAGE,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization',
};

test('a page of a named origin is told before a call and with each answer that it may', async () => {
  const allowed = {
    vary: 'origin',
    'cross-origin-resource-policy': 'cross-origin',
    'access-control-allow-origin': PAGE,
    'access-control-expose-headers': 'etag, retry-after, x-request-id',
  };
  expect(await ask(['https://other.example', PAGE], 'OPTIONS', PREFLIGHT)).toEqual({
    status: 204,
    told: {
      ...allowed,
      'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
      'access-control-allow-headers': 'authorization, content-type, idempotency-key, if-match, traceparent',
      'access-control-max-age': '600',
    },
  });
  expect(await ask([PAGE], 'POST', { origin: PAGE })).toEqual({ status: 401, told: allowed });
});

test.each(['https://evil.example', 'https://app.example.com.evil.example', 'http://app.example.com', 'null'])(
  'a page of %s is told nothing',
  async (origin) => {
    const told = { vary: 'origin', 'cross-origin-resource-policy': 'same-origin' };
    expect(await ask([PAGE], 'OPTIONS', { ...PREFLIGHT, origin })).toEqual({ status: 401, told });
    expect(await ask([PAGE], 'GET', { origin })).toEqual({ status: 401, told });
  },
);

test('by default no page is told anything', async () => {
  expect(await ask([], 'OPTIONS', PREFLIGHT)).toEqual({
    status: 401,
    told: { 'cross-origin-resource-policy': 'same-origin' },
  });
});
