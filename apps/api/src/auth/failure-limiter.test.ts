import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express, { type Request } from 'express';
import { clientAddressOf } from '../http/request-state.ts';
import { HttpFault } from '../http/problem.ts';
import { createFailureLimiter } from './failure-limiter.ts';

const FAULT = new HttpFault('unauthenticated', 'no');

const from = (ip: string) => ({ ip, socket: { remoteAddress: '127.0.0.1' } }) as Request;

function startLimiter(limit = 2) {
  const clock = { now: 1_000 };
  const { judge } = createFailureLimiter(limit, () => clock.now);
  return { clock, codeFor: (ip: string) => judge(from(ip), FAULT).code, judge };
}

test('failures within the budget are answered as what they are, those beyond it with the time until they are again', () => {
  const { judge, clock } = startLimiter();
  expect([judge(from('192.0.2.1'), FAULT), judge(from('192.0.2.1'), FAULT)]).toEqual([FAULT, FAULT]);
  clock.now += 15_500;
  expect(judge(from('192.0.2.1'), FAULT)).toMatchObject({ code: 'rate_limited', headers: { 'retry-after': '45' } });
});

test('every address has a budget of its own, and a new one when its minute is over', () => {
  const { codeFor, clock } = startLimiter(1);
  expect([codeFor('192.0.2.1'), codeFor('192.0.2.1'), codeFor('192.0.2.2')]).toEqual([
    'unauthenticated',
    'rate_limited',
    'unauthenticated',
  ]);
  clock.now += 60_000;
  expect([codeFor('192.0.2.1'), codeFor('192.0.2.1')]).toEqual(['unauthenticated', 'rate_limited']);
});

test('so many addresses that they would fill the memory push out the oldest', () => {
  const { codeFor } = startLimiter(1);
  codeFor('192.0.2.1');
  for (let index = 0; index < 10_000; index++) codeFor(`10.0.${index >> 8}.${index & 255}`);
  expect(codeFor('10.0.39.15')).toBe('rate_limited');
  expect(codeFor('192.0.2.1')).toBe('unauthenticated');
});

test.each([
  ['the same IPv6 network of 64 bits', '2001:db8:1:2::1', '2001:db8:1:2:ffff::9', true],
  ['neighbouring IPv6 networks', '2001:db8:1:2::1', '2001:db8:1:3::1', false],
  ['an IPv4 address and the same in IPv6', '192.0.2.7', '::ffff:192.0.2.7', true],
  ['an address with and without a port', '192.0.2.7', '192.0.2.7:4711', true],
  ['an IPv6 address with and without a port', '2001:db8::1', '[2001:db8::1]:4711', true],
  ['two IPv4 addresses', '192.0.2.7', '192.0.2.8', false],
])('%s', (_name, a, b, same) => {
  expect(clientAddressOf(from(a)) === clientAddressOf(from(b))).toBe(same);
});

test('what is no address at all counts as the connection itself', () => {
  expect(clientAddressOf(from('unknown'))).toBe('127.0.0.1');
});

test.each([
  ['no proxy: the header is not looked at', 0, '198.51.100.1', '127.0.0.1'],
  ['one proxy: what it added', 1, '198.51.100.1', '198.51.100.1'],
  ['one proxy: what the caller wrote is not looked at', 1, '203.0.113.9, 198.51.100.1', '198.51.100.1'],
  ['two proxies', 2, '203.0.113.9, 198.51.100.1, 198.51.100.2', '198.51.100.1'],
])('behind %s', async (_name, proxies, forwardedFor, expected) => {
  const app = express().set('trust proxy', proxies);
  app.get('/', (req, res) => {
    res.send(clientAddressOf(req));
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const answer = await fetch(url, { headers: { 'x-forwarded-for': forwardedFor } });
    expect(await answer.text()).toBe(expected);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
