import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { createKeyspace } from '@herald/store/keys/keys';
import { defineScript } from '@herald/store/redis/script';
import { startRedis } from '@herald/test-kit';
import { kindOf, MAY_STAY, STAY_MEANWHILE } from '../every-key/may-stay.ts';
import { findAccountFaults, findEndedFaults, findHarm } from './find-harm.ts';
import { findScripts } from './find-scripts.ts';
import { KNOWN_FAILURES, type MishapName } from './known-failures.ts';
import * as mishaps from './mishaps.ts';
import { nameOf, recordCall, type RecordedCall } from './record-call.ts';
import { findDifferences, putBack, readState } from './redis-state.ts';
import { SCENES } from './scenes.ts';
import { startStage, type Stage } from './stage.ts';
import { startMovingSlot } from './start-moving-slot.ts';

const cleanUp = new AsyncDisposableStack();
let stages: { readonly plain: Stage; readonly history: Stage };
let bench: mishaps.Bench;
const calls: { readonly call: RecordedCall; readonly whole: mishaps.Whole }[] = [];
const scripts = findScripts();

beforeAll(async () => {
  stages = { plain: cleanUp.use(await startStage(false)), history: cleanUp.use(await startStage(true)) };
  const server = cleanUp.use(await startRedis());
  const redis = cleanUp.adopt(new Redis(server.port), (client) => {
    client.disconnect();
  });
  bench = await mishaps.createBench(redis);
  for (const scene of SCENES) {
    const script = scripts.find(({ name }) => name === scene.script);
    if (!script) throw new Error(`${scene.script} is no script of the code any more: its scene can go`);
    const call = await recordCall(scene.hasHistory ? stages.history : stages.plain, scene, script);
    calls.push({ call, whole: await mishaps.runWhole(bench, call) });
  }
}, 120_000);
afterAll(() => cleanUp.disposeAsync());

/** `unknown`: what is wrong and not listed. `mended`: what is listed and right, and must leave the list. */
const AS_KNOWN = { unknown: [], mended: [] };

/** Lets a mishap happen to every call, and compares what is wrong then with what is known to be. */
async function compareWithKnown(
  mishap: MishapName,
  happen: (call: RecordedCall, whole: mishaps.Whole) => Promise<readonly string[]>,
) {
  const found = new Map<string, readonly string[]>();
  for (const { call, whole } of calls) {
    const harm = await happen(call, whole);
    if (harm.length > 0) found.set(nameOf(call.scene), harm);
  }
  const known = new Set(KNOWN_FAILURES[mishap]);
  return {
    unknown: [...found].filter(([name]) => !known.has(name)).map(([name, harm]) => `${name}: ${harm[0] ?? ''}`),
    mended: [...known].filter((name) => !found.has(name)),
  };
}

test('docs/testing.md says how many scripts and scenes there are', () => {
  const text = readFileSync('docs/testing.md', 'utf8').replaceAll(/\s+/g, ' ');
  expect(text).toContain(`${scripts.length} of them, in ${SCENES.length} scenes`);
});

test('every script that the code runs has a scene, in which one that writes does write', () => {
  const staged = new Set(SCENES.map(({ script }) => script));
  expect(scripts.map(({ name }) => name).filter((name) => !staged.has(name))).toEqual([]);
  const mistaken = calls.filter(({ call: { scene }, whole }) => (whole.writes === 0) !== (scene.readsOnly === true));
  expect(mistaken.map(({ call, whole }) => `${nameOf(call.scene)} writes ${whole.writes} times`)).toEqual([]);
});

test('whoever is answered waited for all that it began', () => {
  const found = calls.map(({ call: { scene, underWay } }) => `${nameOf(scene)}: ${underWay[0] ?? ''}`);
  expect(found.filter((each) => !each.endsWith(': '))).toEqual([]);
});

/** The keys that should have a time to live, and have none. */
async function findStaying(): Promise<readonly string[]> {
  const { redis } = bench;
  const staying: string[] = [];
  for (const name of await redis.keys('*')) {
    const kind = kindOf(name);
    const mayStay = kind && (kind in MAY_STAY || STAY_MEANWHILE.includes(kind));
    // Attempts expire with their delivery.
    const expires = !mayStay || (kind === 'attempts' && (await redis.pttl(name.slice(0, -':a'.length))) >= 0);
    if (expires && (await redis.pttl(name)) === -1) staying.push(name);
  }
  return staying;
}

test('after each script, the accounts and the logs of what ended say what a walk over the records finds, and all that may not stay expires', async () => {
  const [keys] = createKeyspace(1).shards;
  const found: string[] = [];
  for (const { call } of calls) {
    await putBack(bench.redis, call.before);
    await bench.redis.call('EVAL', call.lua, call.keys.length, ...call.keys, ...call.args);
    if (!keys) throw new Error('there is always a first shard');
    const [fault] = [...(await findAccountFaults(bench.redis, keys)), ...(await findEndedFaults(bench.redis, keys))];
    if ((fault === undefined) === (call.scene.isAheadOfRecord === true))
      found.push(`${nameOf(call.scene)}: ${fault ?? 'it is ahead of nothing'}`);
    for (const name of await findStaying()) found.push(`${nameOf(call.scene)}: ${name} stays`);
    // As when all of it has expired meanwhile.
    await bench.redis.flushall();
    await bench.redis.call('EVAL', call.lua, call.keys.length, ...call.keys, ...call.args).catch(() => undefined);
    for (const name of await findStaying()) found.push(`${nameOf(call.scene)}: ${name} comes back and stays`);
  }
  expect(found).toEqual([]);
}, 60_000);

test('on a full Redis a script does all or nothing, and what ends, frees or holds goes on', async () => {
  const found = await compareWithKnown('Redis is full', (call, whole) => mishaps.fillMemory(bench, call, whole));
  expect(found).toEqual(AS_KNOWN);
}, 60_000);

test('a script that is sent again after its reply was lost has happened once', async () => {
  const found = await compareWithKnown('the reply is lost', (call, whole) => mishaps.sendTwice(bench, call, whole));
  expect(found).toEqual(AS_KNOWN);
}, 60_000);

test('while its slot moves a script does all or nothing, and asking again afterwards does it', async () => {
  await using slot = await startMovingSlot();
  const found = await compareWithKnown('its slot moves', (call, whole) => mishaps.moveSlot(slot, call, whole));
  expect(found).toEqual(AS_KNOWN);
}, 120_000);

test('a script that Redis has forgotten runs once all the same', async () => {
  const { redis } = bench;
  const found = await compareWithKnown('Redis forgot it', async (call, whole) => {
    const script = defineScript(redis, call.lua);
    await putBack(redis, call.before);
    await script(call.keys, call.args);
    await redis.script('FLUSH');
    await putBack(redis, call.before);
    await script(call.keys, call.args);
    return findDifferences(whole.after, await readState(redis)).slice(0, 1);
  });
  expect(found).toEqual(AS_KNOWN);
}, 60_000);

test('two processes that do the same at once leave nothing half done', async () => {
  const found = await compareWithKnown('two at once', async ({ scene }) => {
    const stage = scene.hasHistory ? stages.history : stages.plain;
    await stage.redis.flushall();
    const act = await scene.arrange(stage);
    const outcomes = await Promise.allSettled([act(stage.first), act(stage.second)]);
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => String(reason));
    return [...failures, ...(await findHarm(stage.redis, scene.hasHistory))];
  });
  expect(found).toEqual(AS_KNOWN);
}, 60_000);
