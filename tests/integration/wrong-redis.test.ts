import { closeRedis, connectRedis, RedisUnreachableError } from '@herald/store/redis/connect-redis';
import { checkAccess, demandUsableRedis } from '@herald/store/redis/check-redis';
import { START_CAUSES } from '@herald/store/redis/open-when-usable';
import { readEnv } from '@herald/runtime/env';
import { SharedEnv } from '@herald/config/shared-env';
import { toRedisTarget, withOneRedis } from '@herald/config/redis-env';
import { PASSWORD, startWrongServers, type WrongServer, type WrongServers } from '../support/wrong-redis.ts';

/** By the tests of processes, which have authorities of their own. */
const TRIED_ELSEWHERE = ['redis_certificate_expired', 'redis_certificate_name', 'redis_client_certificate'];

/** ADDRESS in the environment and @ in the sentence stand for the address of the server, # for another port. */
interface Case {
  readonly what: string;
  readonly server: WrongServer;
  readonly env: Readonly<Record<string, string>>;
  readonly code: string;
  readonly sentence: string;
}

const url = (signIn = '', end = '') => ({ REDIS_URL: `redis://${signIn === '' ? '' : `${signIn}@`}ADDRESS${end}` });
const as = (user: string) => url(`${user}:${PASSWORD}`);
const sentinel = (master = 'main', more = {}) => ({
  REDIS_SENTINELS: 'ADDRESS',
  REDIS_SENTINEL_MASTER: master,
  ...more,
});
const AT = 'Redis at redis://@';
const UNUSABLE = `${AT} can't be used: `;

const CASES: readonly Case[] = [
  {
    what: 'nothing listens',
    server: 'closedPort',
    env: url(),
    code: 'redis_away',
    sentence: `${AT} can't be reached (connect ECONNREFUSED @). Start it (redis-server) or set REDIS_URL.`,
  },
  {
    what: 'a database that there is not',
    server: 'sound',
    env: url('', '/99'),
    code: 'redis_database_missing',
    sentence: `${AT} has no database 99; set REDIS_URL to one that it has, or raise "databases" in its configuration.`,
  },
  {
    what: 'a database that there is not, as a parameter',
    server: 'sound',
    env: url('', '?db=99'),
    code: 'redis_database_missing',
    sentence: `${AT} has no database 99; set REDIS_URL to one that it has, or raise "databases" in its configuration.`,
  },
  {
    what: 'a user who may not select the database',
    server: 'users',
    env: url(`noselect:${PASSWORD}`, '/3'),
    code: 'redis_database_refused',
    sentence: `${AT} doesn't let this user select database 3; allow it (ACL SETUSER, +select), or set REDIS_URL without a database.`,
  },
  {
    what: 'a read-only replica',
    server: 'replica',
    env: url(),
    code: 'redis_replica',
    sentence: `${UNUSABLE}Redis is a replica, and what is written to it doesn't last; set REDIS_URL to its master (127.0.0.1:#), or make it one with REPLICAOF NO ONE.`,
  },
  {
    what: 'a replica that takes writes',
    server: 'writableReplica',
    env: url(),
    code: 'redis_replica',
    sentence: `${UNUSABLE}Redis is a replica, and what is written to it doesn't last; set REDIS_URL to its master (127.0.0.1:#), or make it one with REPLICAOF NO ONE.`,
  },
  {
    what: 'a user without eval',
    server: 'users',
    env: as('noeval'),
    code: 'redis_not_permitted',
    sentence: `${UNUSABLE}Redis doesn't let the user noeval run eval; allow it with ACL SETUSER noeval +eval.`,
  },
  {
    what: 'a user without evalsha',
    server: 'users',
    env: as('noevalsha'),
    code: 'redis_not_permitted',
    sentence: `${UNUSABLE}Redis doesn't let the user noevalsha run evalsha; allow it with ACL SETUSER noevalsha +evalsha.`,
  },
  {
    what: 'a user without any script',
    server: 'users',
    env: as('noscripts'),
    code: 'redis_not_permitted',
    sentence: `${UNUSABLE}Redis doesn't let the user noscripts run eval, evalsha; allow it with ACL SETUSER noscripts +eval +evalsha.`,
  },
  {
    what: 'a user without commands that only a library sends',
    server: 'users',
    env: as('nobzpopmin'),
    code: 'redis_not_permitted',
    sentence: `${UNUSABLE}Redis doesn't let the user nobzpopmin run bzpopmin, zpopmin; allow it with ACL SETUSER nobzpopmin +bzpopmin +zpopmin.`,
  },
  {
    what: 'a user without a command that has no key',
    server: 'users',
    env: as('notime'),
    code: 'redis_not_permitted',
    sentence: `${UNUSABLE}Redis doesn't let the user notime run time; allow it with ACL SETUSER notime +time.`,
  },
  {
    what: 'a user without info, which BullMQ asks for',
    server: 'users',
    env: as('noinfo'),
    code: 'redis_not_permitted',
    sentence: `${UNUSABLE}Redis doesn't let the user noinfo run info; allow it with ACL SETUSER noinfo +info.`,
  },
  {
    what: 'a user without the keys of shards',
    server: 'users',
    env: as('globalkeys'),
    code: 'redis_not_permitted',
    sentence: `${UNUSABLE}Redis doesn't let the user globalkeys use all keys and channels of Herald's (~{h*); allow it with ACL SETUSER globalkeys ~{h*.`,
  },
  {
    what: 'a user with the keys of shards alone',
    server: 'users',
    env: as('shardkeys'),
    code: 'redis_not_permitted',
    sentence: `${UNUSABLE}Redis doesn't let the user shardkeys use all keys and channels of Herald's (~herald:*); allow it with ACL SETUSER shardkeys ~herald:*.`,
  },
  {
    what: 'a user without keys',
    server: 'users',
    env: as('nokeys'),
    code: 'redis_not_permitted',
    sentence: `${UNUSABLE}Redis doesn't let the user nokeys use all keys and channels of Herald's (~herald:*, ~{h*); allow it with ACL SETUSER nokeys ~herald:* ~{h*.`,
  },
  {
    what: 'a user without channels',
    server: 'users',
    env: as('nochannels'),
    code: 'redis_not_permitted',
    sentence: `${UNUSABLE}Redis doesn't let the user nochannels run publish, subscribe, nor use all keys and channels of Herald's (&herald:test:*); allow it with ACL SETUSER nochannels +publish +subscribe &herald:test:*.`,
  },
  {
    what: 'no password where one is asked for',
    server: 'password',
    env: url(),
    code: 'redis_password_missing',
    sentence: `${AT} asks for a password; put user and password into REDIS_URL, as in redis://user:password@host:6379.`,
  },
  {
    what: 'a wrong password',
    server: 'users',
    env: url('noeval:wrong-hunter2'),
    code: 'redis_wrong_password',
    sentence: `${AT} refuses the user or the password; correct them in REDIS_URL, percent-encoded where they have special characters.`,
  },
  {
    what: 'an unknown user',
    server: 'users',
    env: as('nobody'),
    code: 'redis_wrong_password',
    sentence: `${AT} refuses the user or the password; correct them in REDIS_URL, percent-encoded where they have special characters.`,
  },
  {
    what: 'protected mode',
    server: 'protected',
    env: url(),
    code: 'redis_protected',
    sentence: `${AT} takes no connections from other machines without a password (protected mode); set one there (requirepass, or an ACL user), and put it into REDIS_URL.`,
  },
  {
    what: 'as many connections as it takes',
    server: 'crowded',
    env: url(),
    code: 'redis_too_many_clients',
    sentence: `${AT} has as many connections as it takes; raise its maxclients, or stop what else is connected (redis-cli client list).`,
  },
  {
    what: 'EVALSHA renamed away',
    server: 'renamed',
    env: url(),
    code: 'redis_command_missing',
    sentence: `${UNUSABLE}Redis has no command evalsha, which Herald needs; take "rename-command" for it out of its configuration.`,
  },
  {
    what: 'a command renamed that scripts use',
    server: 'renamedWrite',
    env: url(),
    code: 'redis_command_missing',
    sentence: `${UNUSABLE}Redis has no command hset, which Herald needs; take "rename-command" for it out of its configuration.`,
  },
  {
    what: 'a version that is too old',
    server: 'tooOld',
    env: url(),
    code: 'redis_too_old',
    sentence: `${UNUSABLE}Redis 6.2.14 lacks commands that Herald needs; run 7.0 or later, or Valkey.`,
  },
  {
    what: 'eviction',
    server: 'evicting',
    env: url(),
    code: 'eviction_policy',
    sentence: `${UNUSABLE}Redis throws data away when it is full (maxmemory-policy volatile-lru); set maxmemory-policy noeviction.`,
  },
  {
    what: 'a full Redis',
    server: 'full',
    env: url(),
    code: 'redis_refuses_writes',
    sentence: `${UNUSABLE}Redis is full and refuses writes (OOM); raise maxmemory, or purge what "herald queues --by-workspace" shows.`,
  },
  {
    what: 'a snapshot that failed',
    server: 'unsaved',
    env: url(),
    code: 'redis_refuses_writes',
    sentence: `${UNUSABLE}Redis can't save its data, and refuses writes until it can (MISCONF); make room on its disk or give it a folder that it may write to, as its log says.`,
  },
  {
    what: 'too few replicas',
    server: 'withoutReplicas',
    env: url(),
    code: 'redis_refuses_writes',
    sentence: `${UNUSABLE}Redis has fewer replicas than its min-replicas-to-write and refuses writes (NOREPLICAS); start them, or lower min-replicas-to-write.`,
  },
  {
    what: 'a Redis that is loading its data',
    server: 'loading',
    env: url(),
    code: 'redis_loading',
    sentence: `${AT} is loading its data; start this again when it is done (redis-cli info persistence tells how far it is).`,
  },
  {
    what: 'a Redis that is loading its data, with a password',
    server: 'loadingWithPassword',
    env: as('herald'),
    code: 'redis_loading',
    sentence: `${AT} is loading its data; start this again when it is done (redis-cli info persistence tells how far it is).`,
  },
  {
    what: 'a node of a cluster as one server',
    server: 'clusterWithoutSlots',
    env: url(),
    code: 'cluster_unexpected',
    sentence: `${UNUSABLE}Redis is a cluster; set REDIS_CLUSTER_NODES instead of REDIS_URL.`,
  },
  {
    what: 'a node of a cluster with a database',
    server: 'clusterWithoutSlots',
    env: url('', '/1'),
    code: 'cluster_unexpected',
    sentence: `${AT} is a cluster, which has no databases; set REDIS_CLUSTER_NODES instead of REDIS_URL.`,
  },
  {
    what: 'one server as a cluster',
    server: 'sound',
    env: { REDIS_CLUSTER_NODES: 'ADDRESS' },
    code: 'cluster_missing',
    sentence: 'The Redis Cluster at @ is no cluster; set REDIS_URL instead of REDIS_CLUSTER_NODES.',
  },
  {
    what: 'a cluster whose slots nobody serves',
    server: 'clusterWithoutSlots',
    env: { REDIS_CLUSTER_NODES: 'ADDRESS' },
    code: 'redis_cluster_down',
    sentence:
      'The Redis Cluster at @ is down, because some slots are served by nobody; start or repair its nodes, as redis-cli --cluster check says.',
  },
  {
    what: 'a Sentinel as a server',
    server: 'sentinel',
    env: url(),
    code: 'redis_is_sentinel',
    sentence: `${UNUSABLE}it is a Sentinel, which holds no data; set REDIS_SENTINELS to its address, and REDIS_SENTINEL_MASTER to the name of the master that it watches, instead of REDIS_URL.`,
  },
  {
    what: 'a server as a Sentinel',
    server: 'sound',
    env: sentinel(),
    code: 'redis_no_sentinel',
    sentence:
      "The Redis that the Sentinels at @ call main can't be asked for: what answers there is Redis itself, and no Sentinel; set REDIS_URL instead of REDIS_SENTINELS and REDIS_SENTINEL_MASTER.",
  },
  {
    what: 'a master that the Sentinels don’t know',
    server: 'sentinel',
    env: sentinel('mymaster'),
    code: 'redis_no_master',
    sentence:
      "The Redis that the Sentinels at @ call mymaster isn't known to them; set REDIS_SENTINEL_MASTER to a name that SENTINEL MASTERS lists there.",
  },
  {
    what: 'a master that is away',
    server: 'sentinelOfTheDead',
    env: sentinel(),
    code: 'redis_master_away',
    sentence:
      "The Redis that the Sentinels at @ call main is at 127.0.0.1:#, and gives no answer there; start it, or see why it can't be reached from here.",
  },
  {
    what: 'Sentinels with a password',
    server: 'sentinelWithPassword',
    env: sentinel(),
    code: 'redis_sentinel_password',
    sentence:
      "The Redis that the Sentinels at @ call main can't be found, because the Sentinels want another password; set REDIS_SENTINEL_PASSWORD.",
  },
  {
    what: 'Sentinels that never answer',
    server: 'silent',
    env: sentinel(),
    code: 'redis_hangs',
    sentence:
      'The Sentinel at @ takes connections and never answers; see whether it is Redis that listens there, and whether it hangs.',
  },
  {
    what: 'a TLS port in plain text',
    server: 'tls',
    env: url(`:${PASSWORD}`),
    code: 'redis_tls_expected',
    sentence: `${AT} speaks TLS at this port; write rediss:// instead of redis:// into REDIS_URL, or give its port without TLS.`,
  },
  {
    what: 'a plain port in TLS',
    server: 'sound',
    env: { REDIS_URL: 'rediss://ADDRESS' },
    code: 'redis_plain_expected',
    sentence:
      "Redis at rediss://@ doesn't speak TLS at this port; write redis:// instead of rediss:// into REDIS_URL, or give its TLS port.",
  },
  {
    what: 'a certificate of an unknown authority',
    server: 'tls',
    env: { REDIS_URL: `rediss://:${PASSWORD}@ADDRESS` },
    code: 'redis_certificate_unknown',
    sentence:
      'Redis at rediss://@ has a certificate of an authority that is not known here; set NODE_EXTRA_CA_CERTS to a PEM file with that authority.',
  },
  {
    what: 'a web server',
    server: 'http',
    env: url(),
    code: 'redis_is_none',
    sentence: `${AT} is no Redis: what answers there speaks another protocol; correct REDIS_URL.`,
  },
  {
    what: 'a web server as a cluster',
    server: 'http',
    env: { REDIS_CLUSTER_NODES: 'ADDRESS' },
    code: 'redis_is_none',
    sentence:
      'The Redis Cluster at @ is no Redis: what answers there speaks another protocol; correct REDIS_CLUSTER_NODES.',
  },
  {
    what: 'a server that greets in another protocol',
    server: 'greeting',
    env: url(),
    code: 'redis_is_none',
    sentence: `${AT} is no Redis: what answers there speaks another protocol; correct REDIS_URL.`,
  },
  {
    what: 'a port that takes connections and never answers',
    server: 'silent',
    env: url(),
    code: 'redis_hangs',
    sentence: `${AT} takes connections and never answers; see whether it is Redis that listens there, and whether it hangs.`,
  },
  {
    what: 'a port that closes at once',
    server: 'closing',
    env: url(),
    code: 'redis_closes',
    sentence: `${AT} closes every connection at once; see whether it is Redis that listens there, and what its log says.`,
  },
];

type Refusal = { readonly code: string; readonly sentence: string } | 'it starts';

/** What a process says that is started with this environment. */
async function start(env: Case['env'], address: string): Promise<Refusal> {
  const given = Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, value.replace('ADDRESS', address)]),
  );
  const target = toRedisTarget(readEnv(withOneRedis(SharedEnv), given));
  try {
    const redis = await connectRedis({ target, use: 'request', name: 'herald-test', onError: () => undefined });
    try {
      await demandUsableRedis(redis, { target, minReplicas: 0, shardCount: 2, wallClock: Date.now });
    } finally {
      await closeRedis(redis);
    }
    return 'it starts';
  } catch (error) {
    if (!(error instanceof RedisUnreachableError)) throw error;
    return {
      code: error.code,
      sentence: error.message.replaceAll(address, '@').replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:#'),
    };
  }
}

test('it is decided of each whether a start waits or ends, and all of these are tried', () => {
  const tried = new Set(CASES.map(({ code }) => code));
  const decided = Object.keys(START_CAUSES);
  expect([...tried].filter((code) => !decided.includes(code))).toEqual([]);
  expect(decided.filter((code) => !tried.has(code)).sort()).toEqual(TRIED_ELSEWHERE);
});

/** What a look says of a server whose answer comes too late. */
const OF_LATENESS = ['redis_hangs', 'redis_closes', 'redis_away'];

describe('a start with', () => {
  let servers: WrongServers;
  const refusals = new Map<Case, Promise<Refusal>>();
  beforeAll(async () => {
    servers = await startWrongServers();
    // All at once: those that time out would take a minute together.
    for (const each of CASES) refusals.set(each, start(each.env, `127.0.0.1:${servers.portOf(each.server)}`));
    await Promise.allSettled(refusals.values());
  }, 60_000);
  afterAll(() => servers[Symbol.asyncDispose]());

  test.each(CASES)('$what ends with a sentence that says what to set', async (each) => {
    const first = await refusals.get(each);
    // A look waits for a second. Beside all the others this process may have been away for longer: asked alone, it is in time.
    const isLate = typeof first === 'object' && first.code !== each.code && OF_LATENESS.includes(first.code);
    const refusal = isLate ? await start(each.env, `127.0.0.1:${servers.portOf(each.server)}`) : first;
    expect(refusal).toEqual({ code: each.code, sentence: each.sentence });
    expect(each.sentence).not.toContain(PASSWORD);
  });

  /** The codes of what is found for a user of the server `users`, on which no script is known. */
  async function findForUser(user: string): Promise<string[]> {
    const REDIS_URL = `redis://${user}:${PASSWORD}@127.0.0.1:${servers.portOf('users')}`;
    const target = toRedisTarget(readEnv(withOneRedis(SharedEnv), { REDIS_URL }));
    const redis = await connectRedis({ target, use: 'request', name: 'herald-test', onError: () => undefined });
    try {
      await redis.script('FLUSH');
      return (await checkAccess(redis, { target, minReplicas: 0, shardCount: 2 })).map(({ code }) => code);
    } finally {
      await closeRedis(redis);
    }
  }

  test('a user without info gets one finding, not one more for each question that is refused', async () => {
    await expect(findForUser('noinfo')).resolves.toEqual(['redis_not_permitted']);
  });

  test('a user without eval gets one finding, also where no script is known yet', async () => {
    await expect(findForUser('noeval')).resolves.toEqual(['redis_not_permitted']);
  });

  test('a Redis as it should be ends with none', async () => {
    expect(await start(url(), `127.0.0.1:${servers.portOf('sound')}`)).toBe('it starts');
    expect(await start(url('', '/15'), `127.0.0.1:${servers.portOf('sound')}`)).toBe('it starts');
  });
});
