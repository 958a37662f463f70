import { findFirstRead } from './early-answer.ts';
import { createTokenKeeper, isToken } from './token.ts';

function startTab(hash: string, stored?: string) {
  const items = new Map(stored === undefined ? [] : [['herald.token', stored]]);
  const addresses: string[] = [];
  const keeper = createTokenKeeper({
    storage: {
      getItem: (name) => items.get(name) ?? null,
      setItem: (name, value) => void items.set(name, value),
      removeItem: (name) => void items.delete(name),
    },
    location: { hash, pathname: '/console/receivers', search: '?status=failed' },
    history: { replaceState: (_state, _title, address) => addresses.push(String(address)) },
  });
  return { keeper, items, addresses };
}

test('the token of a link leaves the address for the storage of the tab', () => {
  const { keeper, items, addresses } = startTab('#token=hrlp_abc', 'hrlp_old');
  expect(keeper.takeFromAddress()).toBe(true);
  expect([keeper.get(), items.get('herald.token')]).toEqual(['hrlp_abc', 'hrlp_abc']);
  expect(addresses).toEqual(['/console/receivers?status=failed']);
});

test('who had to sign in first arrives at the page that he wanted, once, unless the link says more', () => {
  const items = new Map<string, string>();
  const addresses: string[] = [];
  const open = (pathname: string, hash: string, search = '') =>
    createTokenKeeper({
      storage: {
        getItem: (name) => items.get(name) ?? null,
        setItem: (name, value) => void items.set(name, value),
        removeItem: (name) => void items.delete(name),
      },
      location: { hash, pathname, search },
      history: { replaceState: (_state, _title, address) => addresses.push(String(address)) },
    });
  open('/console/deliveries', '', '?status=failed').want();
  open('/console', '').want();
  open('/console', '#token=hrlp_a').takeFromAddress();
  open('/console', '#token=hrlp_a').takeFromAddress();
  open('/console/tasks/task_1', '').want();
  open('/console/deliveries/dlv_1', '#token=hrlp_a').takeFromAddress();
  expect(addresses).toEqual(['/console/deliveries?status=failed', '/console', '/console/deliveries/dlv_1']);
});

test('without one, that of the tab stays', () => {
  const { keeper, addresses } = startTab('#content', 'hrlp_old');
  expect(keeper.takeFromAddress()).toBe(false);
  expect([keeper.get(), addresses]).toEqual(['hrlp_old', []]);
});

test('where nothing may be stored, the token lives as long as the page', () => {
  const refuse = () => {
    throw new DOMException('denied', 'SecurityError');
  };
  const keeper = createTokenKeeper({
    storage: { getItem: refuse, setItem: refuse, removeItem: refuse },
    location: { hash: '#token=hrlp_abc', pathname: '/console', search: '' },
    history: { replaceState: () => undefined },
  });
  keeper.takeFromAddress();
  expect(keeper.get()).toBe('hrlp_abc');
  keeper.set(undefined);
  expect(keeper.get()).toBeUndefined();
});

test('only a key or the token of a link is one', () => {
  expect(['hrld_abc', 'hrlp_abc', 'whsec_abc', 'hrld_a b', ''].map(isToken)).toEqual([true, true, false, false, false]);
});

test.each([
  ['/console', '/api/public/webhooks'],
  ['/console/receivers', '/api/public/webhooks'],
  ['/console/receivers/wh_1a', '/api/public/webhooks/wh_1a'],
  ['/console/deliveries/dlv_1a', '/api/public/deliveries/dlv_1a'],
  ['/console/deliveries/dlv_1a/../..', undefined],
  ['/console/verify', undefined],
  ['/admin', undefined],
])('the first read of %s is %s', (page, path) => {
  expect(findFirstRead(page)).toBe(path);
});
