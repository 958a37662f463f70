import { findMutations } from './find-mutations.ts';

function mutantsOf(text: string): string[] {
  return findMutations('a.ts', text).map(
    ({ start, end, replacement }) => text.slice(0, start) + replacement + text.slice(end),
  );
}

test.each([
  ['a < b;', ['; ', 'a <= b;'].map((each) => each.trim())],
  ['if (a) b = 1;', ['if (!(a)) b = 1;', 'if (a) ;']],
  ['const a = !b;', ['const a = b;']],
  ['const a = { b: true };', ['const a = { b: false };']],
  ['type A = true;', []],
  ['await a();', ['void a();', ';']],
  ['const a = await b();', ['const a = b();']],
  ['const a = async () => await b();', []],
  ['async function a() { return await b(); }', []],
  [
    'async function a() { try { return await b(); } finally {} }',
    ['async function a() { try { return b(); } finally {} }'],
  ],
  ['async function a() { using b = c; return await d(b); }', ['async function a() { using b = c; return d(b); }']],
  ['setInterval(a, 1);', [';', 'setTimeout(a, 1);']],
  ['const a = b().finally(c);', ['const a = b();']],
  ["const a = b.set(key, value, 'PX', 1_000, 'NX');", ["const a = b.set(key, value, 'NX');"]],
  ['const a = b.multi().hset(c).pexpireat(d).exec();', ['const a = b.multi().hset(c).exec();']],
  [
    "const a = (await b()) === 'done';",
    ["const a = (await b()) !== 'done';", 'const a = ((await b()), true);', "const a = (b()) === 'done';"],
  ],
  [
    "if (a.kind === 'b') c = 1;",
    ["if (!(a.kind === 'b')) c = 1;", ';', "if (a.kind !== 'b') c = 1;", "if (a.kind === 'b') ;"],
  ],
])('%j is changed in every way that says something else', (text, mutants) => {
  expect(mutantsOf(text)).toEqual(mutants);
});

test('in a Lua script operators change and commands go; its comments stay', () => {
  const text = "const A = /* lua */ `\n-- a == b\nif a == b then\nredis.call('DEL', 'a')\nend`;";
  expect(mutantsOf(text)).toEqual([text.replace('if a == b', 'if a ~= b'), text.replace("redis.call('DEL', 'a')", '')]);
});

test('in a Lua script keys are taken for others, expiries go, and replies are not looked at', () => {
  const lua = (text: string) => `const A = /* lua */ \`\n${text}\n\`;`;
  expect(mutantsOf(lua("redis.call('PEXPIRE', KEYS[1], 5)"))).toEqual([lua('do end')]);
  expect(mutantsOf(lua("redis.call('SET', KEYS[1], 1, 'PX', 5)"))).toEqual([
    lua("redis.call('SET', KEYS[1], 1)"),
    lua(''),
  ]);
  expect(mutantsOf(lua('local a, b = KEYS[1], KEYS[2]'))).toEqual([
    lua('local a, b = KEYS[2], KEYS[2]'),
    lua('local a, b = KEYS[1], KEYS[1]'),
  ]);
  expect(mutantsOf(lua("if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end"))).toContain(
    lua('if false then return 0 end'),
  );
});

test('every mutation says what goes wrong', () => {
  const kinds = (text: string) => findMutations('a.ts', text).map(({ kind }) => kind);
  expect(kinds('await lease.renew();')).toEqual(['await', 'renewal']);
  expect(kinds('clearTimeout(timer);')).toEqual(['clear']);
  expect(kinds('redis.pexpire(key, 5);')).toEqual(['expiry']);
  expect(kinds('a();')).toEqual(['statement']);
});

test('other templates stay', () => {
  expect(mutantsOf('const a = `b == ${c}`;')).toEqual([]);
});
