import { spawn, type ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';

// Reads the groups from its input. The input ends when our process is gone, even after SIGKILL.
const WATCHER_SH = `
groups=
while read -r verb group; do
  if [ "$verb" = guard ]; then groups="$groups $group"; continue; fi
  left=
  for one in $groups; do [ "$one" = "$group" ] || left="$left $one"; done
  groups=$left
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
`;

const guarded = new Set<number>();
let watcher: { child: ChildProcess; input: Socket } | undefined;

/**
 * Has a process group killed as soon as this process is gone. One small shell watches all groups. It has its own group,
 * so that a Ctrl-C doesn't reach it, and ends with the last released group.
 */
export function guardProcessGroup(group: number): void {
  guarded.add(group);
  watcher ??= startWatcher();
  watcher.input.write(`guard ${group}\n`);
}

/** Ends the guard. Call it as soon as the group's leader is gone: the system may reuse its number. */
export function releaseProcessGroup(group: number): void {
  if (!guarded.delete(group)) return;
  watcher?.input.write(`release ${group}\n`);
  if (guarded.size > 0) return;
  watcher?.input.end();
  watcher = undefined;
}

function startWatcher(): { child: ChildProcess; input: Socket } {
  const child = spawn('/bin/sh', ['-c', WATCHER_SH], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  const input = child.stdin;
  if (!(input instanceof Socket))
    throw new Error('a pipe to a child is a socket, and only a socket can be unreferenced');
  const started = { child, input };
  const lost = (why: unknown) => {
    if (watcher !== started) return;
    watcher = undefined;
    process.emitWarning(`processes started by ${process.pid} may outlive it, their watcher is gone: ${String(why)}`);
  };
  child.once('error', lost).once('exit', lost);
  input.once('error', lost);
  child.unref();
  input.unref();
  return started;
}
