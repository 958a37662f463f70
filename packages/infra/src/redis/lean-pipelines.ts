import { Pipeline, type Cluster, type Redis } from 'ioredis';

type Methods = Record<string, unknown>;
/** What the client keeps of a script. */
type KnownScript = { readonly sha: string };
/** What its pipelines use of a client, some of which its types hide. */
type Inside = Methods & {
  readonly scriptsSet: Record<string, KnownScript>;
  defineCommand: Redis['defineCommand'];
  pipeline: (commands?: unknown) => Pipeline;
};

/**
 * Makes a client's pipelines cheap. The client begins one in every turn of the event loop in which it is used, and copies the
 * methods of all scripts into each: with BullMQ's scripts and ours some 13 KB, which outlive the collector's first look.
 * Here they share them.
 */
export function leanPipelines<Client extends Redis | Cluster>(client: Client): Client {
  const inside = client as unknown as Inside;
  /** The client, as a pipeline sees it while it is made: without a script to copy. */
  const bare = Object.create(client, { scriptsSet: { value: {} } }) as Redis;
  const scripts: Record<string, KnownScript> = {};

  class LeanPipeline extends Pipeline {
    constructor() {
      super(bare);
      this.redis = client;
      Object.assign(this, { _shaToScript: scripts });
    }
  }
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
  inside.pipeline = (commands) => {
    const pipeline = new LeanPipeline();
    return Array.isArray(commands) ? pipeline.addBatch(commands) : pipeline;
  };
  return client;
}
