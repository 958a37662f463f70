import { HOSTILE_TEXTS, hostileText, hostileValue } from './hostile-values.ts';
import type { Random } from './random.ts';

/** Changes one place of a JSON value, somewhere: another value, a name more, a name less. */
export function spoil(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random.chance(0.15)) return hostileValue(random);
  if (Array.isArray(value)) {
    if (value.length === 0 || random.chance(0.2)) return [...(value as unknown[]), hostileValue(random)];
    const at = random.below(value.length);
    return value.map((item: unknown, index) => (index === at ? spoil(item, random) : item));
  }
  const entries = Object.entries(value);
  const kind = random.below(6);
  if (kind === 0 || entries.length === 0) {
    return Object.fromEntries([...entries, [random.pick(HOSTILE_TEXTS), hostileValue(random)]]);
  }
  const at = random.below(entries.length);
  if (kind === 1) return Object.fromEntries(entries.filter((_entry, index) => index !== at));
  return Object.fromEntries(entries.map(([name, item], index) => [name, index === at ? spoil(item, random) : item]));
}

/** Changes the text of a JSON body, so that it may be JSON no more. */
export function spoilText(text: string, random: Random): string | Buffer {
  switch (random.below(11)) {
    case 0:
      return text.slice(0, random.below(text.length + 1));
    case 1:
      return text + random.pick(['}', ']', ',', '\u0000', ' {}', '//', 'null']);
    case 2:
      return text.replace('{', '{"__proto__":{"polluted":1},');
    case 3:
      return text.replace(/\{("[^"]*":)/, '{$1 null,$1'); // a name twice
    case 4:
      return `\ufeff${text}`;
    case 5:
      return Buffer.from(text, 'utf16le');
    case 6:
      return Buffer.concat([Buffer.from(text), Buffer.from([0xff, 0xfe, 0xc0, 0x80])]);
    case 7:
      return '['.repeat(random.pick([100, 10_000, 100_000]));
    case 8:
      return random.pick([
        '1e9999',
        '-',
        '"',
        '"\\u12"',
        '"\\ud800"',
        'NaN',
        'undefined',
        "{'a':1}",
        '{a:1}',
        '[,]',
        '0123',
      ]);
    case 9:
      return text.replace(/\d+/, random.pick(['1e400', '00', '1.0000000000000000000001', '9'.repeat(400)]));
    default:
      return hostileText(random);
  }
}
