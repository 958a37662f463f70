/**
 * Loaded into a process before its own code (`node --import`): writes down every TCP connection that it tries to open, at the
 * point where Node hands the address to the system, and lets only those to loopback go on. No packet leaves the machine.
 */
import { appendFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { constants } from 'node:os';

type Connect = (this: unknown, request: unknown, address: string, port: number) => number;
type TcpPrototype = Record<'connect' | 'connect6', Connect>;

const file = process.env.DIALS_FILE;
if (file === undefined) throw new Error('DIALS_FILE must say where to write');

const internals = process as unknown as { binding(name: 'tcp_wrap'): { TCP: { prototype: TcpPrototype } } };
const { prototype } = internals.binding('tcp_wrap').TCP;

for (const method of ['connect', 'connect6'] as const) {
  const original = prototype[method];
  prototype[method] = function record(request, address, port) {
    appendFileSync(file, `${JSON.stringify({ address, port })}\n`);
    return isLoopback(address) ? original.call(this, request, address, port) : -constants.errno.ENETUNREACH;
  };
}

function isLoopback(address: string): boolean {
  return address === '::1' || (isIPv4(address) && address.startsWith('127.'));
}
