import type { Logger } from '@herald/runtime/log';
import type { Request, Response } from 'express';
import { createUntrustedProxyNote } from './request-state.ts';

function startNote(proxyCount: number, set = () => Promise.resolve()) {
  const clock = { now: 1_000_000 };
  const logged: string[] = [];
  let marks = 0;
  const { note, findWarning } = createUntrustedProxyNote({
    proxyCount,
    mark: {
      set: () => {
        marks++;
        return set();
      },
    },
    logger: { warn: (event: string) => logged.push(event) } as unknown as Logger,
    now: () => clock.now,
  });
  return {
    clock,
    logged,
    marks: () => marks,
    code: () => findWarning()?.code,
    request(headers: Readonly<Record<string, string>>) {
      let passed = false;
      void note({ headers } as unknown as Request, {} as Response, () => {
        passed = true;
      });
      expect(passed).toBe(true);
    },
  };
}

test.each([['x-forwarded-for'], ['forwarded']])('%s with TRUST_PROXY=0 is a warning for five minutes', (header) => {
  const { clock, code, request, logged } = startNote(0);
  request({ host: 'herald.example.com' });
  expect(code()).toBeUndefined();
  request({ [header]: '192.0.2.1' });
  expect(code()).toBe('proxy_not_trusted');
  clock.now += 299_999;
  expect(code()).toBe('proxy_not_trusted');
  clock.now += 1;
  expect(code()).toBeUndefined();
  expect(logged).toEqual(['proxy.not_trusted']);
});

test('a proxy that is counted is none', () => {
  const { code, request, marks } = startNote(1);
  request({ 'x-forwarded-for': '192.0.2.1' });
  expect([code(), marks()]).toEqual([undefined, 0]);
});

test('however many such requests come, Redis is written to once a minute and one line is logged', () => {
  const { clock, request, marks, logged } = startNote(0);
  for (let index = 0; index < 1_000; index++) {
    clock.now += 240;
    request({ 'x-forwarded-for': '192.0.2.1' });
  }
  expect(marks()).toBe(4);
  expect(logged).toEqual(['proxy.not_trusted']);
});

test('a Redis that takes no mark is told, and the process warns all the same', async () => {
  const { code, request, logged } = startNote(0, () => Promise.reject(new Error('away')));
  request({ forwarded: 'for=192.0.2.1' });
  await new Promise(setImmediate);
  expect(code()).toBe('proxy_not_trusted');
  expect(logged).toEqual(['proxy.not_trusted', 'proxy.mark_not_written']);
});
