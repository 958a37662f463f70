import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Network, Sent } from './networks-scenario.ts';

const SCENARIO = fileURLToPath(new URL('networks-scenario.ts', import.meta.url));
const SENDS = '5';
const IN_NAMESPACE = ['--map-root-user', '--net'];

/** Namespaces are Linux', and some systems keep them to root; `ip` may be missing. */
const canMake =
  spawnSync('unshare', [...IN_NAMESPACE, 'sh', '-c', 'ip link set lo up && ip link add v0 type veth peer name v1'])
    .status === 0;
const describeWithNamespace = canMake ? describe : describe.skip;

async function sendIn(network: Network): Promise<Sent> {
  const args = [...IN_NAMESPACE, process.execPath, '--conditions=source', SCENARIO, network, SENDS, 'both'];
  return JSON.parse((await promisify(execFile)('unshare', args)).stdout) as Sent;
}

describeWithNamespace('a machine with', () => {
  test.each<Network>(['no IPv6', 'an IPv6 that leads nowhere', 'an IPv4 that leads nowhere'])(
    '%s reaches a receiver that has addresses of both families',
    async (network) => {
      expect(new Set((await sendIn(network)).map(({ told }) => told))).toEqual(new Set(['200']));
    },
    30_000,
  );

  test('no resolver says so, and spends nobody’s try', async () => {
    expect((await sendIn('no resolver, no route')).map(({ told }) => told)).toEqual([
      'EgressFailedError resolver_away',
    ]);
  }, 30_000);
});
