import { findLuaFaults } from './find-lua-faults.ts';

const faultsOf = (...texts: string[]) => findLuaFaults(texts.map((lua, index) => ({ name: `script ${index}`, lua })));

test.each<{ what: string; lua: string; faults: readonly string[] }>([
  {
    what: 'a script without a fault',
    lua: '#!lua flags=allow-oom\nlocal a = KEYS[1]\nreturn a == ARGV[1]',
    faults: [],
  },
  {
    what: 'a text that is no Lua',
    lua: 'local a = = 1',
    faults: [expect.stringMatching(/^no Lua .*line 1: local a = = 1$/)],
  },
  {
    what: 'a global that Redis lacks',
    lua: 'return os.time()',
    faults: ['nothing declares os: script 0, line 1: return os.time()'],
  },
  {
    what: 'a function that is declared further down',
    lua: 'local function a() return b() end\nlocal function b() return a() end\nreturn b()',
    faults: ['nothing declares b: script 0, line 1: local function a() return b() end'],
  },
  {
    what: 'a global that is written',
    lua: 'total = 1\nreturn 1',
    faults: ['nothing declares total: script 0, line 1: total = 1'],
  },
  {
    what: 'a local that nothing reads',
    lua: 'local a = 1\nreturn 1',
    faults: ['nothing reads a: script 0, line 1: local a = 1'],
  },
  {
    what: 'a local that is only written',
    lua: 'local a = 1\na = 2\nreturn 1',
    faults: ['nothing reads a: script 0, line 1: local a = 1'],
  },
  {
    what: 'a parameter that nothing reads',
    lua: 'local function f(a, b) return b end\nreturn f(1, 2)',
    faults: ['nothing reads a: script 0, line 1: local function f(a, b) return b end'],
  },
  {
    what: 'a loop that needs no name',
    lua: 'local n = 0\nfor _, v in ipairs(ARGV) do n = n + v end\nreturn n',
    faults: [],
  },
  {
    what: 'a name that is gone after its block',
    lua: 'if KEYS[1] then local a = 1; redis.log(1, a) end\nreturn a',
    faults: ['nothing declares a: script 0, line 2: return a'],
  },
  { what: 'a field of a name', lua: 'local t = { a = 1 }\nreturn t.b', faults: [] },
  { what: 'an end of a loop that reads its body', lua: 'repeat local a = redis.call(1) until a', faults: [] },
])('$what', ({ lua, faults }) => {
  expect(faultsOf(lua)).toEqual(faults);
});

test('what scripts share is read by one of them at least, and told once otherwise', () => {
  const shared = 'local function f() return 1 end\n';
  expect(faultsOf(`${shared}return f()`, `${shared}return 2`)).toEqual([]);
  expect(faultsOf(`${shared}return 1`, `${shared}return 2`)).toHaveLength(1);
});
