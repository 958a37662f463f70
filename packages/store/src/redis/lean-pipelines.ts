import { Pipeline, type Cluster, type Redis } from 'ioredis';

/** What the client keeps of a script. */
type KnownScript = { readonly sha: string };
/** What its pipelines use of a client, some of which its types hide. */
type Inside = Record<string, unknown> & {
  readonly scriptsSet: Record<string, KnownScript>;
  defineCommand: Redis['defineCommand'];
  pipeline: (commands?: unknown) => Pipeline;
};

/** Of which the client's class of pipelines is made. */
const Commander = Object.getPrototypeOf(Pipeline) as new () => object;

/**
 * Makes a client's pipelines cheap. The client begins one in every turn of the event loop in which it is used, copies the
 * methods of all scripts into it, BullMQ's and ours, and gives it a getter of its own: 22 KB, of which half outlives the collector's
 * quick looks, and with it the commands and their replies. Here pipelines share methods and getter.
 */
export function leanPipelines<Client extends Redis | Cluster>(client: Client): Client {
  const inside = client as unknown as Inside;
  const scripts: Record<string, KnownScript> = {};
  const { options, isCluster } = client;

  class LeanPipeline extends Pipeline {}
  Object.defineProperty(LeanPipeline.prototype, 'length', {
    get(this: { readonly _queue: readonly unknown[] }) {
      return this._queue.length;
    },
  });
  /** As the constructor of Pipeline, but for what is shared. */
  const begin = (): Pipeline => {
    const pipeline = Reflect.construct(Commander, [], LeanPipeline) as Pipeline;
    const fields = { redis: client, isPipeline: true, replyPending: 0, _queue: [], _result: [], _transactions: 0 };
    return Object.assign(pipeline, fields, { _shaToScript: scripts, isCluster, options }, Promise.withResolvers());
  };
  const share = (name: string) => {
    const script = inside.scriptsSet[name];
    if (!script) return;
    scripts[script.sha] = script;
    Object.assign(LeanPipeline.prototype, { [name]: inside[name], [`${name}Buffer`]: inside[`${name}Buffer`] });
  };
  for (const name of Object.keys(inside.scriptsSet)) share(name);
  const define: Inside['defineCommand'] = client.defineCommand.bind(client);
  inside.defineCommand = (name, definition) => {
    define(name, definition);
    share(name);
  };
  inside.pipeline = (commands) => (Array.isArray(commands) ? begin().addBatch(commands) : begin());
  return client;
}
