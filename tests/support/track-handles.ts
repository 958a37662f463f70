import { createHook } from 'node:async_hooks';

/** Something that keeps a process busy or waits for something: a timer, a socket, a look-up, a watched file. */
export type Handle = {
  readonly type: string;
  /** For a timer what it calls, and when. For others where it began, as far as the stack tells. */
  readonly what: string;
};

/**
 * What counts. Promises don't: a library may keep some that never settle. Nor does what encrypts a connection: its
 * TCPWRAP goes when it is closed, and itself whenever memory is collected.
 */
const TYPES = new Set([
  ...['Timeout', 'Immediate', 'TCPWRAP', 'TCPSERVERWRAP', 'UDPWRAP', 'GETADDRINFOREQWRAP', 'QUERYWRAP'],
  ...['FSEVENTWRAP', 'STATWATCHER', 'PROCESSWRAP', 'WORKER', 'TCPCONNECTWRAP', 'HTTP2SESSION', 'MESSAGEPORT'],
]);
/** Lines of a stack that say nothing of ours. */
const OF_OTHERS = /node:|track-handles|node_modules[/\\](?!ioredis|bullmq|got|pg)/;

type Timer = { readonly _onTimeout?: unknown; readonly _idleTimeout?: number };

/**
 * Tracks from now on what begins in this process and hasn't ended, whether or not it keeps the process alive.
 * `find` names what is left.
 * @param isOurs asked when something begins: a process of Jest runs other files too, whose timers begin anew by themselves
 */
export function trackHandles(isOurs: () => boolean = () => true) {
  const living = new Map<number, { readonly type: string; readonly resource: object; readonly stack: string }>();
  const hook = createHook({
    init(id, type, _trigger, resource) {
      if (TYPES.has(type) && isOurs()) living.set(id, { type, resource, stack: new Error(type).stack ?? '' });
    },
    destroy(id) {
      living.delete(id);
    },
  }).enable();
  return {
    find: (): readonly Handle[] =>
      [...living.values()]
        // A timer that was cleared is taken away a moment later.
        .filter(({ resource }) => (resource as Timer)._idleTimeout !== -1)
        .map(({ type, resource, stack }) => ({ type, what: describe(type, resource, stack) })),
    stop: () => {
      hook.disable();
    },
  };
}

function describe(type: string, resource: Timer, stack: string): string {
  const ours = stack.split('\n').slice(1).find((line) => !OF_OTHERS.test(line)); // prettier-ignore
  const at = ours?.trim() ?? 'nowhere of ours';
  if (type !== 'Timeout') return at;
  const calls = typeof resource._onTimeout === 'function' ? Function.prototype.toString.call(resource._onTimeout) : '';
  return `${resource._idleTimeout ?? '?'} ms, ${calls.replaceAll(/\s+/g, ' ').slice(0, 120)} ${at}`;
}
