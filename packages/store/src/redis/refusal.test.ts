import { refusalOf, sayRefusal } from './refusal.ts';

test.each([
  ["NOPERM this user has no permissions to run the 'eval' command", 'not_permitted'],
  ["ERR unknown command 'evalsha', with args beginning with: 'x'", 'unknown_command'],
  ['ERR Unknown Redis command called from script script: 1234, on @user_script:1.', 'unknown_command'],
  ['NOSCRIPT No matching script. Please use EVAL.', 'unknown_script'],
  ["OOM command not allowed when used memory > 'maxmemory'.", 'full'],
  ['MISCONF Errors writing to the AOF file: No space left on device', 'disk'],
  ['NOREPLICAS Not enough good replicas to write.', 'few_replicas'],
  ["READONLY You can't write against a read only replica.", 'replica'],
  ['LOADING Redis is loading the dataset in memory', 'loading'],
  ['CLUSTERDOWN Hash slot not served', 'cluster_down'],
  ['ERR something else', undefined],
])('%s → %s', (message, refusal) => {
  expect(refusalOf(new Error(message))).toBe(refusal);
});

test.each([
  ["ERR unknown command 'AUTH', with args beginning with: 'herald' 'hunter2' ", "ERR unknown command 'AUTH'"],
  [
    "OOM command not allowed when used memory > 'maxmemory'. script: 83c2, on @user_script:4.",
    "OOM command not allowed when used memory > 'maxmemory'.",
  ],
])('of %s nothing is said that was sent', (message, said) => {
  expect(sayRefusal({ message })).toBe(said);
});
