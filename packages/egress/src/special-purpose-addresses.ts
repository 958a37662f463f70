/** A row of a registry. `globallyReachable` is null where its column is blank or "N/A": that is no promise. */
export type RegistryRow = readonly [prefix: string, name: string, source: string, globallyReachable: boolean | null];

/**
 * Every row of the IANA IPv4 Special-Purpose Address Registry, as of 2026-07-18 (last updated 2025-10-09).
 * https://www.iana.org/assignments/iana-ipv4-special-registry/iana-ipv4-special-registry-1.csv
 */
export const IPV4_SPECIAL_PURPOSE: readonly RegistryRow[] = [
  ['0.0.0.0/8', 'This network', 'RFC 791, 3.2', false],
  ['0.0.0.0/32', 'This host on this network', 'RFC 1122, 3.2.1.3', false],
  ['10.0.0.0/8', 'Private-Use', 'RFC 1918', false],
  ['100.64.0.0/10', 'Shared Address Space', 'RFC 6598', false],
  ['127.0.0.0/8', 'Loopback', 'RFC 1122, 3.2.1.3', false],
  ['169.254.0.0/16', 'Link Local', 'RFC 3927', false],
  ['172.16.0.0/12', 'Private-Use', 'RFC 1918', false],
  ['192.0.0.0/24', 'IETF Protocol Assignments', 'RFC 6890, 2.1', false],
  ['192.0.0.0/29', 'IPv4 Service Continuity Prefix', 'RFC 7335', false],
  ['192.0.0.8/32', 'IPv4 dummy address', 'RFC 7600', false],
  ['192.0.0.9/32', 'Port Control Protocol Anycast', 'RFC 7723', true],
  ['192.0.0.10/32', 'Traversal Using Relays around NAT Anycast', 'RFC 8155', true],
  ['192.0.0.170/32', 'NAT64/DNS64 Discovery', 'RFC 8880, RFC 7050, 2.2', false],
  ['192.0.0.171/32', 'NAT64/DNS64 Discovery', 'RFC 8880, RFC 7050, 2.2', false],
  ['192.0.2.0/24', 'Documentation (TEST-NET-1)', 'RFC 5737', false],
  ['192.31.196.0/24', 'AS112-v4', 'RFC 7535', true],
  ['192.52.193.0/24', 'AMT', 'RFC 7450', true],
  ['192.88.99.0/24', 'Deprecated (6to4 Relay Anycast)', 'RFC 7526', null],
  ['192.88.99.2/32', '6a44-relay anycast address', 'RFC 6751', false],
  ['192.168.0.0/16', 'Private-Use', 'RFC 1918', false],
  ['192.175.48.0/24', 'Direct Delegation AS112 Service', 'RFC 7534', true],
  ['198.18.0.0/15', 'Benchmarking', 'RFC 2544', false],
  ['198.51.100.0/24', 'Documentation (TEST-NET-2)', 'RFC 5737', false],
  ['203.0.113.0/24', 'Documentation (TEST-NET-3)', 'RFC 5737', false],
  ['240.0.0.0/4', 'Reserved', 'RFC 1112, 4', false],
  ['255.255.255.255/32', 'Limited Broadcast', 'RFC 8190, RFC 919, 7', false],
];

/**
 * Every row of the IANA IPv6 Special-Purpose Address Registry, as of 2026-07-18 (last updated 2025-10-09).
 * https://www.iana.org/assignments/iana-ipv6-special-registry/iana-ipv6-special-registry-1.csv
 */
export const IPV6_SPECIAL_PURPOSE: readonly RegistryRow[] = [
  ['::1/128', 'Loopback Address', 'RFC 4291', false],
  ['::/128', 'Unspecified Address', 'RFC 4291', false],
  ['::ffff:0:0/96', 'IPv4-mapped Address', 'RFC 4291', false],
  ['64:ff9b::/96', 'IPv4-IPv6 Translat.', 'RFC 6052', true],
  ['64:ff9b:1::/48', 'IPv4-IPv6 Translat.', 'RFC 8215', false],
  ['100::/64', 'Discard-Only Address Block', 'RFC 6666', false],
  ['100:0:0:1::/64', 'Dummy IPv6 Prefix', 'RFC 9780', false],
  ['2001::/23', 'IETF Protocol Assignments', 'RFC 2928', false],
  ['2001::/32', 'TEREDO', 'RFC 4380, RFC 8190', null],
  ['2001:1::1/128', 'Port Control Protocol Anycast', 'RFC 7723', true],
  ['2001:1::2/128', 'Traversal Using Relays around NAT Anycast', 'RFC 8155', true],
  ['2001:1::3/128', 'DNS-SD Service Registration Protocol Anycast', 'RFC 9665', true],
  ['2001:2::/48', 'Benchmarking', 'RFC 5180, erratum 1752', false],
  ['2001:3::/32', 'AMT', 'RFC 7450', true],
  ['2001:4:112::/48', 'AS112-v6', 'RFC 7535', true],
  ['2001:10::/28', 'Deprecated (previously ORCHID)', 'RFC 4843', null],
  ['2001:20::/28', 'ORCHIDv2', 'RFC 7343', true],
  ['2001:30::/28', 'Drone Remote ID Protocol Entity Tags (DETs) Prefix', 'RFC 9374', true],
  ['2001:db8::/32', 'Documentation', 'RFC 3849', false],
  ['2002::/16', '6to4', 'RFC 3056', null],
  ['2620:4f:8000::/48', 'Direct Delegation AS112 Service', 'RFC 7534', true],
  ['3fff::/20', 'Documentation', 'RFC 9637', false],
  ['5f00::/16', 'Segment Routing (SRv6) SIDs', 'RFC 9602', false],
  ['fc00::/7', 'Unique-Local', 'RFC 4193, RFC 8190', false],
  ['fe80::/10', 'Link-Local Unicast', 'RFC 4291', false],
];

/**
 * Ranges that are refused although no registry calls them unreachable. The nearest node of an anycast service may stand
 * in the worker's own network. Identifiers are not locations. Multicast has registries of its own.
 */
export const REFUSED_BESIDES: readonly string[] = [
  // Multicast: RFC 5771, RFC 4291.
  ...['224.0.0.0/4', 'ff00::/8'],
  // Azure's host agent, inside every virtual machine: a metadata service at an address that looks public.
  '168.63.129.16/32',
  // Anycast services: PCP, TURN, DNS-SD registration, AMT relays, AS112 sinks.
  ...['192.0.0.9/32', '192.0.0.10/32', '192.31.196.0/24', '192.52.193.0/24', '192.175.48.0/24'],
  ...['2001:1::1/128', '2001:1::2/128', '2001:1::3/128', '2001:3::/32', '2001:4:112::/48', '2620:4f:8000::/48'],
  // Identifiers: ORCHIDv2, drones.
  ...['2001:20::/28', '2001:30::/28'],
  // Gateways to IPv4, each with its own rules about the addresses that it reaches.
  ...['64:ff9b::/96', '64:ff9b:1::/48', '2001::/32', '2002::/16'],
];
