import { canonicalAddress, createAddressPolicy, IPV4_SPECIAL_PURPOSE, IPV6_SPECIAL_PURPOSE } from './address-policy.ts';

const publicOnly = createAddressPolicy({ allowCidrs: [] });

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '168.63.129.15',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2a00:1450:4001:800::200e',
  '2001:200::1',
  '::ffff:1.1.1.1',
  '::ffff:101:101',
  '2606:4700::5efe:1.1.1.1',
  '2606:4700::5eff:7f00:1',
])('%s is public', (address) => {
  expect(publicOnly.isAllowed(address)).toBe(true);
});

test.each([
  ['unspecified', '0.0.0.0', '0.1.2.3', '::'],
  ['private', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.255.1', 'fc00::1', 'fd00:ec2::254'],
  ['loopback', '127.0.0.1', '127.255.255.255', '::1'],
  ['link-local', '169.254.0.1', '169.254.169.254', 'fe80::1', 'fe80::1%eth0'],
  ['shared (CGNAT)', '100.64.0.1', '100.127.255.255', '100.100.100.200'],
  ['protocol assignments', '192.0.0.192', '2001::1', '2001:1ff:ffff::1'],
  ['documentation', '192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  ['benchmarking', '198.18.0.1', '198.19.255.255', '2001:2::1'],
  ['AS112 and AMT', '192.31.196.1', '192.175.48.1', '192.52.193.1', '2620:4f:8000::1', '2001:3::1', '2001:4:112::1'],
  ['relay anycast', '192.88.99.1'],
  ['multicast', '224.0.0.1', '239.255.255.255', 'ff02::1'],
  ['reserved', '240.0.0.1', '255.255.255.255'],
  ['a metadata service', '168.63.129.16'],
  ['IPv4-mapped', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '0:0:0:0:0:ffff:a9fe:a9fe'],
  ['IPv4-compatible', '::7f00:1', '::127.0.0.1', '::1.1.1.1'],
  ['IPv4-translated', '::ffff:0:127.0.0.1', '::ffff:0:1.1.1.1'],
  ['NAT64', '64:ff9b::7f00:1', '64:ff9b::101:101', '64:ff9b:1::1'],
  ['6to4', '2002:7f00:1::1', '2002:101:101::1'],
  ['Teredo', '2001:0:101:101::1'],
  ['ISATAP', '2606:4700::5efe:127.0.0.1', '2606:4700::200:5efe:10.0.0.1', '2606:4700:1:2:300:5efe:a9fe:a9fe'],
  ['a zone', '2606:4700::1%lo', '::ffff:1.1.1.1%lo'],
  ['ORCHID', '2001:10::1', '2001:20::1', '2001:30::1'],
  ['segment routing', '5f00::1'],
  ['discard', '100::1'],
  ['site-local', 'fec0::1'],
  ['unallocated', '4000::1', '8000::1', 'e000::1'],
  [
    'not an address as a resolver writes it',
    '',
    'localhost',
    '127.1',
    '2130706433',
    '0x08.8.8.8',
    '010.8.8.8',
    '8.8.8.8.',
    '[2606::1]',
    '8.8.8.8/32',
  ],
])('%s: none of its addresses is allowed', (_range, ...addresses) => {
  expect(addresses.filter((address) => publicOnly.isAllowed(address))).toEqual([]);
});

test.each([
  {
    cidr: '10.1.0.0/16',
    opens: ['10.1.2.3', '::ffff:10.1.2.3', '::ffff:a01:203'],
    leaves: ['10.2.0.1', '::ffff:10.2.0.1', '127.0.0.1'],
  },
  { cidr: '127.0.0.1/32', opens: ['127.0.0.1'], leaves: ['127.0.0.2', '::1'] },
  { cidr: 'fd00:1::/32', opens: ['fd00:1::1'], leaves: ['fd00:2::1', '10.0.0.1'] },
  { cidr: '::1/128', opens: ['::1'], leaves: ['127.0.0.1', '::2'] },
  {
    cidr: '::ffff:10.1.0.0/112',
    opens: ['10.1.2.3', '::ffff:10.1.2.3'],
    leaves: ['10.2.0.1', '::ffff:10.2.0.1', '::10.1.2.3', '64:ff9b::10.1.2.3'],
  },
  {
    cidr: '127.0.0.0/8',
    opens: ['127.0.0.1', '::ffff:127.0.0.1', '::ffff:7f00:1'],
    leaves: ['::127.0.0.1', '::ffff:0:7f00:1', '64:ff9b::7f00:1', '64:ff9b:1::7f00:1', '2002:7f00:1::', '::1'],
  },
  {
    cidr: '64:ff9b::/96',
    opens: ['64:ff9b::1.1.1.1', '64:ff9b::808:808'],
    leaves: ['64:ff9b::127.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b::10.0.0.1', '64:ff9b:1::1.1.1.1'],
  },
  {
    cidr: '::/0',
    opens: ['fd00::1', '::1', '2002:808:808::'],
    leaves: ['10.0.0.1', '::ffff:10.0.0.1', '2002:a00:1::', '::10.0.0.1', 'fd00::5efe:10.0.0.1'],
  },
  { cidr: 'fe80::/10', opens: ['fe80::1', 'fe80::1%eth0'], leaves: ['fe80::5efe:10.0.0.1', 'fd00::1'] },
  { cidr: '0.0.0.0/0', opens: ['10.0.0.1', '169.254.169.254', '::ffff:10.0.0.1'], leaves: ['::1'] },
])('$cidr opens itself and nothing beside', ({ cidr, opens, leaves }) => {
  const policy = createAddressPolicy({ allowCidrs: [cidr] });
  expect(opens.filter((address) => !policy.isAllowed(address))).toEqual([]);
  expect(leaves.filter((address) => policy.isAllowed(address))).toEqual([]);
  expect(policy.isAllowed('1.1.1.1')).toBe(true);
});

test.each([
  '',
  'all',
  '10.0.0.0',
  '10.0.0.0/',
  '10.0.0.0/33',
  '10.0.0.0/8/8',
  '10/8',
  '010.0.0.0/8',
  '::/129',
  '10.0.0.0/-1',
  '10.0.0.0/255.0.0.0',
  '::ffff:0:0/95',
  'fe80::%eth0/64',
])('the range "%s" is refused by name', (cidr) => {
  expect(() => createAddressPolicy({ allowCidrs: ['10.0.0.0/8', cidr] })).toThrow(`"${cidr}"`);
});

test('two spellings of one address are the same', () => {
  expect(canonicalAddress('::ffff:7f00:1')).toBe(canonicalAddress('127.0.0.1'));
  expect(canonicalAddress('2606:4700:0:0::1')).toBe(canonicalAddress('2606:4700::1'));
  expect(canonicalAddress('::1.1.1.1')).toBe(canonicalAddress('::101:101'));
  expect(canonicalAddress('::1.1.1.1')).not.toBe(canonicalAddress('1.1.1.1'));
  expect(canonicalAddress('localhost')).toBeUndefined();
});

test.each([
  ['6to4', '2002:808:808:0:0:5efe:7f00:1'],
  ['Teredo', '2001:0:808:808:200:5efe:6440:0'],
])('an ISATAP address under a prefix of %s is judged by both addresses that it carries', (_name, address) => {
  expect(createAddressPolicy({ allowCidrs: ['::/0'] }).isAllowed(address)).toBe(false);
  expect(createAddressPolicy({ allowCidrs: ['::/0', '0.0.0.0/0'] }).isAllowed(address)).toBe(true);
});

describe('a range that is closed', () => {
  const policy = createAddressPolicy({
    allowCidrs: ['10.0.0.0/8', '64:ff9b::/96'],
    denyCidrs: ['10.1.0.0/16', '93.184.215.0/24', '2606:4700::/32', '::ffff:8.8.8.0/120'],
  });
  test.each([
    ['93.184.215.14', false],
    ['93.184.216.14', true],
    ['::ffff:93.184.215.14', false],
    ['64:ff9b::5db8:d70e', false],
    ['64:ff9b::5db8:d80e', true],
    ['2606:4700::1111', false],
    ['2606:4701::1111', true],
    ['8.8.8.8', false],
    ['10.1.2.3', false],
    ['10.2.2.3', true],
  ])('%s is allowed: %p', (address, isAllowed) => {
    expect(policy.isAllowed(address)).toBe(isAllowed);
  });

  test('must be a range', () => {
    expect(() => createAddressPolicy({ allowCidrs: [], denyCidrs: ['1.2.3.4'] })).toThrow('"1.2.3.4"');
  });
});

const isPublic = (address: string) => publicOnly.isAllowed(address);

type Row = readonly [prefix: string, within: string, publicBeside: string, refusedBeside: string];

/** A block, its first and last address, and the neighbours just outside by what they are. */
const ROWS: readonly Row[] = [
  ['0.0.0.0/8', '0.0.0.0 0.255.255.255', '1.0.0.0', ''],
  ['0.0.0.0/32', '0.0.0.0', '', '0.0.0.1'],
  ['10.0.0.0/8', '10.0.0.0 10.255.255.255', '9.255.255.255 11.0.0.0', ''],
  ['100.64.0.0/10', '100.64.0.0 100.127.255.255', '100.63.255.255 100.128.0.0', ''],
  ['127.0.0.0/8', '127.0.0.0 127.255.255.255', '126.255.255.255 128.0.0.0', ''],
  ['169.254.0.0/16', '169.254.0.0 169.254.255.255', '169.253.255.255 169.255.0.0', ''],
  ['172.16.0.0/12', '172.16.0.0 172.31.255.255', '172.15.255.255 172.32.0.0', ''],
  ['192.0.0.0/24', '192.0.0.0 192.0.0.255', '191.255.255.255 192.0.1.0', ''],
  ['192.0.0.0/29', '192.0.0.0 192.0.0.7', '191.255.255.255', '192.0.0.8'],
  ['192.0.0.8/32', '192.0.0.8', '', '192.0.0.7 192.0.0.9'],
  ['192.0.0.9/32', '192.0.0.9', '', '192.0.0.8 192.0.0.10'],
  ['192.0.0.10/32', '192.0.0.10', '', '192.0.0.9 192.0.0.11'],
  ['192.0.0.170/32', '192.0.0.170', '', '192.0.0.169 192.0.0.171'],
  ['192.0.0.171/32', '192.0.0.171', '', '192.0.0.170 192.0.0.172'],
  ['192.0.2.0/24', '192.0.2.0 192.0.2.255', '192.0.1.255 192.0.3.0', ''],
  ['192.31.196.0/24', '192.31.196.0 192.31.196.255', '192.31.195.255 192.31.197.0', ''],
  ['192.52.193.0/24', '192.52.193.0 192.52.193.255', '192.52.192.255 192.52.194.0', ''],
  ['192.88.99.0/24', '192.88.99.0 192.88.99.255', '192.88.98.255 192.88.100.0', ''],
  ['192.88.99.2/32', '192.88.99.2', '', '192.88.99.1 192.88.99.3'],
  ['192.168.0.0/16', '192.168.0.0 192.168.255.255', '192.167.255.255 192.169.0.0', ''],
  ['192.175.48.0/24', '192.175.48.0 192.175.48.255', '192.175.47.255 192.175.49.0', ''],
  ['198.18.0.0/15', '198.18.0.0 198.19.255.255', '198.17.255.255 198.20.0.0', ''],
  ['198.51.100.0/24', '198.51.100.0 198.51.100.255', '198.51.99.255 198.51.101.0', ''],
  ['203.0.113.0/24', '203.0.113.0 203.0.113.255', '203.0.112.255 203.0.114.0', ''],
  ['240.0.0.0/4', '240.0.0.0 255.255.255.255', '', '239.255.255.255'],
  ['255.255.255.255/32', '255.255.255.255', '', '255.255.255.254'],
  ['::1/128', '::1', '', ':: ::2'],
  ['::/128', '::', '', '::1'],
  ['::ffff:0:0/96', '::ffff:0:0 ::ffff:ffff:ffff', '', '::fffe:ffff:ffff ::1:0:0:0'],
  ['64:ff9b::/96', '64:ff9b:: 64:ff9b::ffff:ffff', '', '64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff 64:ff9b::1:0:0'],
  [
    '64:ff9b:1::/48',
    '64:ff9b:1:: 64:ff9b:1:ffff:ffff:ffff:ffff:ffff',
    '',
    '64:ff9b:0:ffff:ffff:ffff:ffff:ffff 64:ff9b:2::',
  ],
  ['100::/64', '100:: 100::ffff:ffff:ffff:ffff', '', 'ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 100:0:0:1::'],
  ['100:0:0:1::/64', '100:0:0:1:: 100::1:ffff:ffff:ffff:ffff', '', '100::ffff:ffff:ffff:ffff 100:0:0:2::'],
  [
    '2001::/23',
    '2001:: 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff',
    '2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2001:200::',
    '',
  ],
  ['2001::/32', '2001:: 2001:0:ffff:ffff:ffff:ffff:ffff:ffff', '2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:1::'],
  ['2001:1::1/128', '2001:1::1', '', '2001:1:: 2001:1::2'],
  ['2001:1::2/128', '2001:1::2', '', '2001:1::1 2001:1::3'],
  ['2001:1::3/128', '2001:1::3', '', '2001:1::2 2001:1::4'],
  ['2001:2::/48', '2001:2:: 2001:2:0:ffff:ffff:ffff:ffff:ffff', '', '2001:1:ffff:ffff:ffff:ffff:ffff:ffff 2001:2:1::'],
  ['2001:3::/32', '2001:3:: 2001:3:ffff:ffff:ffff:ffff:ffff:ffff', '', '2001:2:ffff:ffff:ffff:ffff:ffff:ffff 2001:4::'],
  [
    '2001:4:112::/48',
    '2001:4:112:: 2001:4:112:ffff:ffff:ffff:ffff:ffff',
    '',
    '2001:4:111:ffff:ffff:ffff:ffff:ffff 2001:4:113::',
  ],
  [
    '2001:10::/28',
    '2001:10:: 2001:1f:ffff:ffff:ffff:ffff:ffff:ffff',
    '',
    '2001:f:ffff:ffff:ffff:ffff:ffff:ffff 2001:20::',
  ],
  [
    '2001:20::/28',
    '2001:20:: 2001:2f:ffff:ffff:ffff:ffff:ffff:ffff',
    '',
    '2001:1f:ffff:ffff:ffff:ffff:ffff:ffff 2001:30::',
  ],
  [
    '2001:30::/28',
    '2001:30:: 2001:3f:ffff:ffff:ffff:ffff:ffff:ffff',
    '',
    '2001:2f:ffff:ffff:ffff:ffff:ffff:ffff 2001:40::',
  ],
  [
    '2001:db8::/32',
    '2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
    '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff 2001:db9::',
    '',
  ],
  ['2002::/16', '2002:: 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2003::', ''],
  [
    '2620:4f:8000::/48',
    '2620:4f:8000:: 2620:4f:8000:ffff:ffff:ffff:ffff:ffff',
    '2620:4f:7fff:ffff:ffff:ffff:ffff:ffff 2620:4f:8001::',
    '',
  ],
  [
    '3fff::/20',
    '3fff:: 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff',
    '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff 3fff:1000::',
    '',
  ],
  ['5f00::/16', '5f00:: 5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '', '5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 5f01::'],
  ['fc00::/7', 'fc00:: fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '', 'fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff fe00::'],
  ['fe80::/10', 'fe80:: febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '', 'fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff fec0::'],
  ['224.0.0.0/4', '224.0.0.0 239.255.255.255', '223.255.255.255', '240.0.0.0'],
  ['ff00::/8', 'ff00:: ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['168.63.129.16/32', '168.63.129.16', '168.63.129.15 168.63.129.17', ''],
];

const listed = (addresses: string) => addresses.split(' ').filter((address) => address !== '');

test.each(ROWS)('nothing in %s is allowed, and its neighbours are what they are', (_prefix, within, open, closed) => {
  expect([...listed(within), ...listed(closed)].filter(isPublic)).toEqual([]);
  expect(listed(open).filter((address) => !isPublic(address))).toEqual([]);
});

test('every row of both registries is in the table', () => {
  const prefixes = [...IPV4_SPECIAL_PURPOSE, ...IPV6_SPECIAL_PURPOSE].map(([prefix]) => prefix);
  expect(prefixes).toHaveLength(26 + 25);
  expect(new Set(prefixes).size).toBe(prefixes.length);
  expect(prefixes.filter((prefix) => !ROWS.some((row) => row[0] === prefix))).toEqual([]);
});

test('the registries call these rows globally reachable, and make no promise about those', () => {
  const rows = [...IPV4_SPECIAL_PURPOSE, ...IPV6_SPECIAL_PURPOSE];
  const prefixesOf = (said: boolean | null) => rows.filter((row) => row[3] === said).map(([prefix]) => prefix);
  expect(prefixesOf(true)).toEqual([
    ...['192.0.0.9/32', '192.0.0.10/32', '192.31.196.0/24', '192.52.193.0/24', '192.175.48.0/24', '64:ff9b::/96'],
    ...['2001:1::1/128', '2001:1::2/128', '2001:1::3/128', '2001:3::/32', '2001:4:112::/48', '2001:20::/28'],
    ...['2001:30::/28', '2620:4f:8000::/48'],
  ]);
  expect(prefixesOf(null)).toEqual(['192.88.99.0/24', '2001::/32', '2001:10::/28', '2002::/16']);
});
