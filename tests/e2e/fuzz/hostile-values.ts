import type { Random } from './random.ts';

/** Texts that have broken something somewhere. */
export const HOSTILE_TEXTS = [
  ...[
    '',
    ' ',
    '\t',
    '\n',
    '\u0000',
    'a\u0000b',
    '\u001b[2J',
    '\ufeff',
    '\u202e',
    '\ud800',
    'e\u0301',
    '𝕳𝖊𝖗𝖆𝖑𝖉',
    '٣',
    'İ',
  ],
  ...[
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'then',
    '$ref',
    'undefined',
    'null',
    'NaN',
  ],
  ...[
    '../../etc/passwd',
    '%00',
    '%2e%2e%2f',
    "' OR 1=1 --",
    '{{7*7}}',
    '${7*7}',
    '<script>alert(1)</script>',
    '*',
    '?',
  ],
  ...['{herald}', '{h0dr}:t:x', 'wait', 'meta', 'events', '0', '-1', '1e9999', '0x10', '1_000', '१', '-0'],
  ...[
    'https://',
    'https://x',
    'http://x',
    'https://[::1]',
    'https://localhost',
    'https://x:99999',
    'https://x:0',
    'https://%',
  ],
  ...['https://user:pass@x.example', 'https://x.example#f', 'https:/\\x', 'javascript:alert(1)', 'file:///etc/passwd'],
  ...[
    '2030-02-31T00:00:00Z',
    '9999-12-31T23:59:59Z',
    '0000-01-01T00:00:00Z',
    '2030-01-01',
    '+275760-09-13T00:00:00.001Z',
  ],
] as const;

const HOSTILE_NUMBERS = [
  ...[0, -0, -1, 0.5, 1e21, 1e308, -1e308, 5e-324, 2 ** 31, 2 ** 32, 2 ** 53, 2 ** 53 + 2, 2 ** 63, 2 ** 64],
  ...[Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
] as const;

export function hostileText(random: Random): string {
  const kind = random.below(10);
  if (kind < 6) return random.pick(HOSTILE_TEXTS);
  if (kind === 6) return random.pick(['x', '€', '🙂', '\u0000', '\\', '"']).repeat(random.below(3_000));
  if (kind === 7) return 'x'.repeat(random.pick([63, 64, 65, 255, 256, 257, 1_024, 1_025, 4_097, 32_769]));
  return Array.from({ length: random.below(20) }, () => String.fromCharCode(random.below(65_536))).join('');
}

/** Any JSON, most of it unwelcome. */
export function hostileValue(random: Random, depth = 0): unknown {
  switch (random.below(depth > 3 ? 6 : 9)) {
    case 0:
      return null;
    case 1:
      return random.chance(0.5);
    case 2:
      return random.pick(HOSTILE_NUMBERS);
    case 3:
    case 4:
      return hostileText(random);
    case 5:
      return random.pick([[], {}, [[]], [null], { a: {} }]);
    case 6:
      return Array.from({ length: random.below(6) }, () => hostileValue(random, depth + 1));
    case 7:
      return Object.fromEntries(
        Array.from({ length: random.below(5) }, () => [
          hostileText(random).slice(0, 80),
          hostileValue(random, depth + 1),
        ]),
      );
    default:
      return nested(random, random.pick([10, 63, 64, 65, 500]));
  }
}

function nested(random: Random, levels: number): unknown {
  let value: unknown = random.pick([1, 'x', null]);
  for (let level = 0; level < levels; level++) value = random.chance(0.5) ? [value] : { a: value };
  return value;
}
