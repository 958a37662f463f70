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
])('%j is changed in every way that says something else', (text, mutants) => {
  expect(mutantsOf(text)).toEqual(mutants);
});

test('in a Lua script operators change and commands go; its comments stay', () => {
  const text = "const A = /* lua */ `\n-- a == b\nif a == b then\nredis.call('DEL', 'a')\nend`;";
  expect(mutantsOf(text)).toEqual([text.replace('if a == b', 'if a ~= b'), text.replace("redis.call('DEL', 'a')", '')]);
});

test('other templates stay', () => {
  expect(mutantsOf('const a = `b == ${c}`;')).toEqual([]);
});
