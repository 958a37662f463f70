import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { TOPOLOGIES } from '../../support/start-topology.ts';
import type { DroppedPackets } from './dropped-packets-scenario.ts';

const SCENARIO = fileURLToPath(new URL('dropped-packets-scenario.ts', import.meta.url));
const IN_NAMESPACE = ['--map-root-user', '--net'];

/** Namespaces are Linux', and some systems keep them to root; `ip` and `iptables` may be missing. */
const canDrop =
  spawnSync('unshare', [...IN_NAMESPACE, 'sh', '-c', 'ip link set lo up && iptables-restore --test < /dev/null'])
    .status === 0;
const describeWithNamespace = canDrop ? describe : describe.skip;

describeWithNamespace('connections whose packets are all dropped', () => {
  test.concurrent.each(TOPOLOGIES)(
    'are told of and made again on %s, those of subscribers, blocking commands and Sentinels included',
    async (kind) => {
      const args = [...IN_NAMESPACE, process.execPath, '--conditions=source', SCENARIO, kind];
      const { stdout } = await promisify(execFile)('unshare', args);
      const seen = JSON.parse(stdout) as DroppedPackets;
      // Two of the API, three of the worker.
      expect(seen.connections).toBeGreaterThanOrEqual(5);
      expect(Math.max(seen.apiTold, seen.workerTold)).toBeLessThan(3);
      expect(seen.accepted).toBeLessThan(12);
      expect(Math.max(seen.delivered, seen.tested)).toBeLessThan(15);
    },
    90_000,
  );
});
