import { newReceiverId, newTaskId } from '@herald/core';
import { pathForLog } from './path-for-log.ts';

const [receiver, task] = [newReceiverId(0), newTaskId(0)];

test.each([
  ['/', '/'],
  ['/healthz', '/healthz'],
  [`/api/public/webhooks/${receiver}/secret/rotate`, `/api/public/webhooks/${receiver}/secret/rotate`],
  [`/tasks/${task}/approvals/pay-1/resolve?x=1`, `/tasks/${task}/approvals/*/resolve`],
  ['/api/public/webhooks?token=whsec_abc', '/api/public/webhooks'],
  ['/api/public/webhooks/hrld_0123456789abcdefghijABCDEFGHIJ0123456789', '/api/public/webhooks/*'],
  ['/api/public/webhooks/hrld_0123456789abcdef_abcdefghijABCDEFGHIJ0123456789', '/api/public/webhooks/*'],
  ['/api/public/portal-links/plk_0123456789abcdef', '/api/public/portal-links/plk_0123456789abcdef'],
  ['/api/public/portal-links/hrlp_0123456789abcdefghijABCDEFGHIJ01234567', '/api/public/portal-links/*'],
  ['/whsec_abc/def+ghi=', '/*/*'],
  [`/api/public/webhooks/${receiver}x`, '/api/public/webhooks/*'],
  ['/%68rld_0', '/*'],
])('%s is logged as %s', (url, logged) => {
  expect(pathForLog(url)).toBe(logged);
});

test('a path is cut, and what is cut off is not shown', () => {
  expect(pathForLog(`/${'a/'.repeat(500)}`).length).toBeLessThanOrEqual(200);
});
