import { createFindGroups } from '../endpoints/receiver-store.ts';
import { createApiKeyStore } from '../access/api-key-store.ts';
import { createKeyspace } from '../keys/keys.ts';
import { createNoticeView } from './describe-delivery.ts';

const MANY = 5_000;
/** So many commands are answered well within the timeout of one. */
const MOST_AT_ONCE = 2_000;

/** A Redis that answers with these, each a turn later, and counts the commands that wait for an answer. */
function createCountingRedis(answers: Readonly<Record<string, unknown>>) {
  const calls = { made: 0, underWay: 0, most: 0 };
  const answerWith = (answer: unknown) => async () => {
    calls.made++;
    calls.most = Math.max(calls.most, ++calls.underWay);
    await new Promise(setImmediate);
    calls.underWay--;
    return answer;
  };
  const redis = Object.fromEntries(Object.entries(answers).map(([name, answer]) => [name, answerWith(answer)]));
  return { redis: redis as never, calls };
}

const now = () => 1_000;
const names = Array.from({ length: MANY }, (_, index) => `key_${index}`);
const keysOfRedis = {
  hgetall: Object.fromEntries(names.map((name) => [name, name])),
  zrange: names.map((name) => `ws_a 5 ${name}`),
  hget: 'look-up',
};

test.each([
  {
    what: 'the groups of receivers',
    answers: { evalsha: [] },
    run: (redis: never) =>
      createFindGroups({ redis, keyspace: createKeyspace(3), now })(
        names.map((group) => ({ workspaceId: `ws_${group}`, group })),
      ),
  },
  { what: 'all API keys', answers: keysOfRedis, run: (redis: never) => createApiKeyStore({ redis, now }).list() },
  {
    what: 'the API keys of a workspace',
    answers: keysOfRedis,
    run: (redis: never) => createApiKeyStore({ redis, now }).listOf('ws_a'),
  },
  {
    what: 'the notices of many shards',
    answers: { zrange: names.flatMap((name) => [name, '5']), hgetall: {}, llen: 0, lindex: null },
    run: (redis: never) => createNoticeView({ redis, keyspace: createKeyspace(2) }).list(),
  },
])('$what are read with few commands under way at a time', async ({ answers, run }) => {
  const { redis, calls } = createCountingRedis(answers);
  await run(redis);
  expect(calls.made).toBeGreaterThanOrEqual(MANY);
  expect(calls.most).toBeLessThanOrEqual(MOST_AT_ONCE);
});
