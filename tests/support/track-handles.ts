import { createHook } from 'node:async_hooks';

/**
 * Something that keeps a process busy or waits for something: a timer, a socket, a look-up, a watched file, an async
 * function of ours that has not returned.
 */
export type Handle = {
  readonly type: string;
  /** For a timer what it calls, and when. For others where it began, as far as the stack tells. */
  readonly what: string;
};

/**
 * What counts. What encrypts a connection doesn't: its TCPWRAP goes when it is closed, and itself whenever memory is
 * collected.
 */
const TYPES = new Set([
  'PROMISE',
  ...['Timeout', 'Immediate', 'TCPWRAP', 'TCPSERVERWRAP', 'UDPWRAP', 'GETADDRINFOREQWRAP', 'QUERYWRAP'],
  ...['FSEVENTWRAP', 'STATWATCHER', 'PROCESSWRAP', 'WORKER', 'TCPCONNECTWRAP', 'HTTP2SESSION', 'MESSAGEPORT'],
]);
/** Lines of a stack that say nothing of ours. */
const OF_OTHERS = /node:|track-handles|node_modules[/\\](?!ioredis|bullmq|got|pg)/;

/** Where code of ours stands, in a bundle by its map. A promise that it makes by `new` or `then` has another line first. */
const OF_OURS = /\/(?:packages|apps)\/(?!test-kit\/)[\w-]+\/src\//;

const NOWHERE = 'nowhere of ours';

type Timer = { readonly _onTimeout?: unknown; readonly _idleTimeout?: number };

/**
 * Tracks from now on what begins in this process and hasn't ended, whether or not it keeps the process alive.
 * `find` names what is left.
 * @param isOurs asked when something begins: a process of Jest runs other files too, whose timers begin anew by themselves
 */
export function trackHandles(isOurs: () => boolean = () => true) {
  // The stack of an error is written when somebody reads it.
  const living = new Map<number, { readonly type: string; readonly resource: object; readonly began: Error }>();
  const forget = (id: number) => living.delete(id);
  const hook = createHook({
    init(id, type, _trigger, resource) {
      if (TYPES.has(type) && isOurs()) living.set(id, { type, resource, began: new Error(type) });
    },
    destroy: forget,
    promiseResolve: forget,
  }).enable();
  const find = (): readonly Handle[] =>
    [...living.values()]
      // A timer that was cleared is taken away a moment later.
      .filter(({ resource }) => (resource as Timer)._idleTimeout !== -1)
      .map(({ type, resource, began: { stack = '' } }) => ({ type, what: describe(type, resource, stack) }))
      .filter(({ type, what }) => type !== 'PROMISE' || OF_OURS.test(what))
      // A step of Node's own, which it makes in this turn of the loop.
      .filter(({ type, what }) => type !== 'Immediate' || what !== NOWHERE);
  return {
    /** What is closed is left for a moment more. */
    find,
    /** Async functions of ours that have not returned. */
    findUnderWay: (): readonly Handle[] => find().filter(({ type }) => type === 'PROMISE'),
    stop: () => {
      hook.disable();
    },
  };
}

function describe(type: string, resource: Timer, stack: string): string {
  const lines = stack.split('\n').slice(1).map((line) => line.trim()); // prettier-ignore
  if (type === 'PROMISE') return lines.find((line) => !/async_hooks|track-handles/.test(line)) ?? '';
  const at = lines.find((line) => !OF_OTHERS.test(line)) ?? NOWHERE;
  if (type !== 'Timeout') return at;
  const calls = typeof resource._onTimeout === 'function' ? Function.prototype.toString.call(resource._onTimeout) : '';
  return `${resource._idleTimeout ?? '?'} ms, ${calls.replaceAll(/\s+/g, ' ').slice(0, 120)} ${at}`;
}
