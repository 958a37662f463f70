import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createEgressSender } from '@herald/egress/create-egress';
import { createCertificateAuthority, startHttps } from '@herald/test-kit';
import { startNameServer, type NameRecords } from '../../support/start-name-server.ts';

/** What a machine's network lacks. */
export type Network = 'no IPv6' | 'an IPv6 that leads nowhere' | 'an IPv4 that leads nowhere' | 'no resolver, no route';
/** What came of the sends, in their order, and how long each took at least, in ms; printed as JSON. */
export type Sent = readonly { readonly told: string; readonly ms: number }[];

const HOST = 'receiver.test';
const ip = (...args: readonly string[]): unknown => execFileSync('ip', args);

/** An interface with an address of the family, and a route for all of it: whatever is sent there is lost. */
function loseAll(family: '-4' | '-6', address: string, router: string): void {
  ip('link', 'add', 'v0', 'type', 'veth', 'peer', 'name', 'v1');
  for (const end of ['v0', 'v1']) ip('link', 'set', end, 'up');
  ip(family, 'addr', 'add', address, 'dev', 'v0', ...(family === '-6' ? ['nodad'] : []));
  ip(family, 'neigh', 'add', router, 'lladdr', '02:00:00:00:00:02', 'dev', 'v0');
  ip(family, 'route', 'add', 'default', 'via', router, 'dev', 'v0');
}

// Started by its test, in a network namespace of its own.
const [network, sends, addresses] = process.argv.slice(2) as [Network, string, 'both' | 'IPv4'];
ip('link', 'set', 'lo', 'up');
let records: NameRecords = { a: ['127.0.0.1'], aaaa: ['2001:db8:7::1'] };
let host: string | undefined;
switch (network) {
  case 'no IPv6':
    // As sysctl does, which not every PATH has.
    writeFileSync('/proc/sys/net/ipv6/conf/all/disable_ipv6', '1');
    break;
  case 'an IPv6 that leads nowhere':
    loseAll('-6', '2001:db8::1/64', '2001:db8::2');
    ip('addr', 'add', '192.0.2.1/24', 'dev', 'v0');
    break;
  case 'an IPv4 that leads nowhere':
    loseAll('-4', '192.0.2.1/24', '192.0.2.2');
    records = { a: ['203.0.113.9'], aaaa: ['::1'] };
    host = '::1';
    break;
  case 'no resolver, no route':
}

const authority = await createCertificateAuthority();
const { certPem, keyPem } = await authority.issueCertificate({ hosts: [HOST] });
await using receiver = await startHttps(
  { cert: certPem, key: keyPem },
  // Each send needs a new connection.
  (request, response) => request.resume().on('end', () => response.setHeader('connection', 'close').end()),
  host,
);
await using names = await startNameServer();
names.setInTurn(HOST, addresses === 'IPv4' ? { a: records.a ?? [] } : records);
const isCutOff = network === 'no resolver, no route';
const sender = createEgressSender({
  allowCidrs: isCutOff ? [] : ['127.0.0.0/8', '::1/128', '203.0.113.0/24', '2001:db8::/32'],
  caPem: authority.certPem,
  names: isCutOff ? {} : { servers: [names.address] },
  deadlineMs: 10_000,
});
const send = async (url: string): Promise<Sent[number]> => {
  const startedAt = performance.now();
  const told = await sender.send({ url, headers: {}, body: Buffer.from('{}') }).then(
    ({ outcome }) => (outcome.kind === 'responded' ? String(outcome.status) : JSON.stringify(outcome)),
    (error: unknown) => `${(error as Error).name} ${String((error as { reason?: string }).reason)}`,
  );
  return { told, ms: Math.round(performance.now() - startedAt) };
};
const sent: Sent[number][] = [];
if (isCutOff) {
  sent.push(await send(`https://${HOST}/`));
} else {
  for (let index = 0; index < Number(sends); index++) sent.push(await send(`https://${HOST}:${receiver.port}/`));
}
sender.close();
process.stdout.write(JSON.stringify(sent));
