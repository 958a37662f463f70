import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * Drops whatever belongs to the connections that these processes have on loopback now, to the given ports: nobody is told, and new
 * connections work. Only for a network namespace of its own, whose firewall it sets.
 * @returns how many connections there were
 */
export function dropPackets(pids: readonly number[], ports: ReadonlySet<number>): number {
  const sockets = new Set(pids.flatMap(socketsOf));
  const dropped = [...readConnections('/proc/net/tcp'), ...readConnections('/proc/net/tcp6')].filter(
    ({ inode, to }) => sockets.has(inode) && ports.has(to),
  );
  // By both ends: a connection to another server may have the same port on this side.
  const rules = dropped.flatMap(({ from, to }) => [
    `-A INPUT -p tcp --sport ${from} --dport ${to} -j DROP`,
    `-A INPUT -p tcp --sport ${to} --dport ${from} -j DROP`,
  ]);
  execFileSync('iptables-restore', ['--noflush'], { input: ['*filter', ...rules, 'COMMIT', ''].join('\n') });
  return dropped.length;
}

function socketsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/${fd}`))?.[1] ?? [];
    } catch {
      return []; // closed meanwhile
    }
  });
}

/** Established connections, with the ports of both ends. */
function readConnections(file: string): { from: number; to: number; inode: string }[] {
  const ESTABLISHED = '01';
  const portOf = (address = '') => Number.parseInt(address.split(':')[1] ?? '', 16);
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state]) => state === ESTABLISHED)
    .map(([, local, remote, , , , , , , inode = '']) => ({ from: portOf(local), to: portOf(remote), inode }));
}
