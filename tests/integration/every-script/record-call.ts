import type { ChainableCommander } from 'ioredis';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { trackHandles } from '../../support/track-handles.ts';
import type { FoundScript } from './find-scripts.ts';
import { createProcessStores } from './process-stores.ts';
import { saveKeys, type SavedKey } from './redis-state.ts';
import type { Scene } from './scenes.ts';
import type { Stage } from './stage.ts';

/** One call of a script, and all that Redis held before. */
export type RecordedCall = {
  readonly scene: Scene;
  readonly lua: string;
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
  readonly before: readonly SavedKey[];
  /** What the scene began and did not wait for. */
  readonly underWay: readonly string[];
};

export const nameOf = ({ script, when }: Scene) => (when === undefined ? script : `${script}, when ${when}`);

/** Arranges a scene on an empty Redis, and records the first call of its script. */
export async function recordCall(stage: Stage, scene: Scene, script: FoundScript): Promise<RecordedCall> {
  const { redis, options } = stage;
  await redis.flushall();
  const act = await scene.arrange(stage);
  let recorded: Omit<RecordedCall, 'underWay'> | undefined;
  const look = async (lua: string, count: number, rest: readonly (string | number)[]) => {
    if (recorded || !lua.includes(script.header)) return;
    const [keys, args] = [rest.slice(0, count).map(String), rest.slice(count)];
    recorded = { scene, lua, keys, args, before: await saveKeys(redis as never) };
  };
  const { client, unanswered } = listenTo(redis, look);
  const tracker = trackHandles();
  await act(createProcessStores({ ...options, redis: client }));
  const underWay = [...tracker.findUnderWay().map(({ what }) => what), ...unanswered];
  tracker.stop();
  if (!recorded) throw new Error(`${nameOf(scene)}: the scene never ran the script`);
  return { ...recorded, underWay };
}

/** As `listenTo` does, of the scripts of a pipeline. */
function tellOfPipeline(pipeline: ChainableCommander, look: Look): ChainableCommander {
  const exec = pipeline.exec.bind(pipeline);
  const add = pipeline.eval.bind(pipeline);
  const scripts: Parameters<Look>[] = [];
  return Object.assign(pipeline, {
    eval(lua: string, count: number, ...rest: readonly (string | number)[]) {
      scripts.push([lua, count, rest]);
      return add(lua, count, ...rest);
    },
    async exec() {
      for (const script of scripts) await look(...script);
      return await exec();
    },
  });
}

type Look = (lua: string, keyCount: number, rest: readonly (string | number)[]) => Promise<void>;

/**
 * A client that tells of each script before it runs, and the commands that it has not answered. It knows no script by its
 * SHA-1, so that each comes with its source.
 */
function listenTo(redis: RedisClient, look: Look) {
  const unanswered = new Set<string>();
  const refuse = () => Promise.reject(Object.assign(new Error('NOSCRIPT it knows none'), { name: 'ReplyError' }));
  const tell = async (send: () => unknown, [lua, count, ...rest]: readonly unknown[]): Promise<unknown> => {
    await look(String(lua), Number(count), rest as readonly (string | number)[]);
    return await send();
  };
  const client = new Proxy(redis, {
    get(target, name) {
      if (name === 'evalsha') return refuse;
      if (name === 'pipeline') return () => tellOfPipeline(target.pipeline(), look);
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: readonly unknown[]): unknown => {
        const send = (): unknown => {
          const reply: unknown = Reflect.apply(value, target, args);
          if (!(reply instanceof Promise)) return reply;
          const command = `${String(name)} ${args.join(' ')}`.slice(0, 80);
          unanswered.add(command);
          return reply.finally(() => unanswered.delete(command));
        };
        if (name === 'eval') return tell(send, args);
        return name === 'call' && args[0] === 'EVAL' ? tell(send, args.slice(1)) : send();
      };
    },
  });
  return { client, unanswered };
}
