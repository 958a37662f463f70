import { createQueueKeys } from '@herald/queue';
import { findPrivateKeys } from './find-private-keys.ts';

const find = (source: string) => findPrivateKeys(source, createQueueKeys(''));

test.each(['q:', 'g:', 'ready:1', 'turns:', 'wake:0', 'later', 'leases', 'queue'])(
  '%s is a key of the queue',
  (name) => {
    const source = `const A = 1;\nconst SCRIPT_LUA = /* lua */ \`return redis.call('ZCARD', prefix .. '${name}')\`;`;
    expect(find(source)).toEqual([`'${name}' is a key of the queue, which its fragments alone name`]);
  },
);

test('it is found beside what stands in the text from elsewhere, and not there', () => {
  const source =
    "const LUA = /* lua */ `${PARTS.map((name) => `'q:${name}'`)} local a = prefix .. 'q:' ${MORE} return 'g'`;";
  expect(find(source)).toHaveLength(1);
});

test('a key of the store is none, nor is a string that is not Lua', () => {
  expect(find("const LUA = /* lua */ `return prefix .. 'e:' .. 'queues'`;\nconst OTHER = `prefix .. 'q:'`;")).toEqual(
    [],
  );
});
