import { ValidationError } from '@herald/core';
import type { Request, Response } from 'express';
import { findLossyNumbers, isLossyNumber, levelsOf, parseJson } from './parse-json.ts';

const pathsIn = (text: string, itemLevel?: number) =>
  [...findLossyNumbers(text, itemLevel)].map((path) => path.join('.'));

test.each<[string, string[]]>([
  ['{"a":1,"b":[0.5,"1e400",-3e2],"c":{"d":null,"e":true}}', []],
  ['{"a":1e400}', ['a']],
  ['{"a":[1,[2,1e400],{"b":-9007199254740993}]}', ['a.1.1', 'a.2.b']],
  [' { "a" : [ 1e1 , 1e400 ] , "b" : 1e-400 } ', ['a.1', 'b']],
  ['{"a":{},"b":[],"c":[[],{}],"d":[1e400]}', ['d.0']],
  ['[{"a":"}]\\"1e400","b\\"\\\\":1e400}]', ['0.b"\\']],
  ['{"\\u00e4":1e400,"x":"\\\\","y":[12345678901234567890]}', ['ä', 'y.0']],
  ['{"a":"x","1e400":1,"b":false,"c":[true,false,null,1e400]}', ['c.3']],
  ['{"a":1e400,"a":1}', ['a']],
  ['["at 12:00, 1e400 or 9007199254740993"]', []],
])('in %s the numbers that are lost are at %j', (text, paths) => {
  JSON.parse(text);
  expect(pathsIn(text)).toEqual(paths);
});

test('of each item the first is told, and what lies outside of items is told in full', () => {
  const text =
    '{"x":[1e400],"items":[{"a":1e400,"b":[1e400,{"c":1e400}]},2,{"d":1},{"e":[1e400,1e400]},1e400],"y":1e400}';
  expect(pathsIn(text, 2)).toEqual(['x.0', 'items.0.a', 'items.3.e.0', 'items.4', 'y']);
});

test('a path names 66 levels, and 64 characters of a name', () => {
  const [deep] = findLossyNumbers(`${'['.repeat(5_000)}1e400${']'.repeat(5_000)}`);
  expect(deep).toHaveLength(66);
  expect(pathsIn(`{"${'k'.repeat(5_000)}":1e400}`)).toEqual(['k'.repeat(64)]);
});

const LONG = ' '.repeat(1_000);

test.each([
  ['[]', 0],
  [`${LONG}{"a":[1,{"b":[]},[[]]],"c":{}}`, 4],
  [`${LONG}["[[[[","\\"[[[","\\\\",[]]`, 2],
  [`${LONG}{"a":"`, 1],
  [`${LONG}]]]]`, 0],
  ['['.repeat(5_000), 5_000],
  ['{"a":'.repeat(5_000), 5_000],
])('%s is nested %i levels deep', (text, levels) => {
  expect(levelsOf(Buffer.from(text))).toBe(levels);
});

test('a body that is nested very deep is refused before it is parsed, and a clear sentence says so', () => {
  const [, , parse] = parseJson(4 << 20, 'transitions');
  const read = (levels: number): unknown => {
    const body = Buffer.from(`{"transitions":${'['.repeat(levels)}${']'.repeat(levels)}}`);
    const req = { body, is: () => 'json', get: () => undefined } as unknown as Request;
    parse?.(req, {} as Response, () => undefined);
    return req.body;
  };
  expect(read(999)).toHaveProperty('transitions');
  const parsing = jest.spyOn(JSON, 'parse');
  expect(() => read(1_000)).toThrow(ValidationError);
  expect(() => read(2_000_000)).toThrow('is nested deeper than 1000 levels; flatten it');
  expect(parsing).not.toHaveBeenCalled();
  parsing.mockRestore();
});

/** What Node's parser says of the same text, which knows the source of each number. */
function lossyByParser(text: string): number {
  let count = 0;
  const revive = (_key: string, value: unknown, { source }: { source?: string }) => {
    if (typeof value === 'number' && source !== undefined && LOST.includes(source)) count++;
    return value;
  };
  JSON.parse(text, revive as (key: string, value: unknown) => unknown);
  return count;
}

const LOST = ['1e400', '9007199254740993', '-0.12345678901234567890', '1e-400'];
const KEPT = ['0', '-1', '1e30', '0.30000000000000004', '9007199254740992', '12.5e-3'];
const TEXTS = ['""', '"1e400"', '"\\""', '"\\\\"', '": 1e400,"', '"[{]}"', '"\\u00e4\u{1f642}"'];

test('in 2,000 texts of any form the same numbers are found as by a parser', () => {
  let seed = 7;
  const below = (count: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 1;
    return seed % count;
  };
  const pick = (list: readonly string[]) => list[below(list.length)] ?? '';
  const blank = () => pick(['', '', ' ', '\n\t']);
  const make = (depth: number): string => {
    const kind = below(depth > 4 ? 3 : 5);
    if (kind < 3) return blank() + pick([LOST, KEPT, [...TEXTS, 'null', 'true', 'false']][kind] ?? []) + blank();
    const parts = Array.from({ length: below(4) }, (_, n) => {
      const name = kind === 3 ? `${blank()}${pick(TEXTS).slice(0, -1)}${n}"${blank()}:` : '';
      return name + make(depth + 1);
    });
    return kind === 3 ? `{${parts.join(',') || blank()}}` : `[${parts.join(',') || blank()}]`;
  };
  let found = 0;
  for (let round = 0; round < 2_000; round++) {
    const text = `[${make(0)}]`;
    expect(pathsIn(text)).toHaveLength(lossyByParser(text));
    found += lossyByParser(text);
  }
  expect(found).toBeGreaterThan(500);
});

test.each([
  ['of small numbers', `[1e400,${'1,'.repeat(500_000)}1]`],
  ['of exponents', `[${'1e1,'.repeat(250_000)}1]`],
  ['of numbers that are lost', `[${'1e400,'.repeat(170_000)}1]`],
  ['that is one number', `[${'9'.repeat(1_000_000)}]`],
  ['of zeros before a digit', `[0.${'0'.repeat(1_000_000)}1]`],
  ['of zeros between digits', `[1${'0'.repeat(1_000_000)}1]`],
  ['of a text that looks like numbers', `["${':1.2345678901234.'.repeat(60_000)}",1e1]`],
  ['of backslashes', `["${'\\\\'.repeat(500_000)}",1e1]`],
  ['of brackets', `${'['.repeat(500_000)}1e400${']'.repeat(500_000)}`],
])('a mebibyte %s is looked through in no time', (_what, text) => {
  // Some 50 ms of processor time, and under a test's instruments some more. What is not linear takes minutes.
  const before = process.cpuUsage();
  pathsIn(text, 2);
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(5_000);
});

test.each([
  ...['0', '-0', '0.0', '0e999999', '-0.0e-400', `0.${'0'.repeat(1_000)}`],
  ...['1', '-12', '0.1', '1.50', '12.345678901234', '1e3', '1E+3', '100e-2', '0.1e1'],
  // Up to 2^53, and beyond it what happens to be exact.
  ...['9007199254740991', '-9007199254740991', '9007199254740992', '9007199254740994', '9007199254740992e0'],
  // As programs write round numbers and doubles.
  ...[
    '1e30',
    '1e+300',
    `1${'0'.repeat(30)}`,
    `1.${'0'.repeat(1_000)}`,
    '18446744073709552000',
    '1.7976931348623157e308',
  ],
  ...['0.30000000000000004', '3.141592653589793', '5e-324', '2.2250738585072014e-308', '1e-320', '0.00000010000000'],
  // The same doubles with 17 digits and more, as C and others write them out.
  ...['0.10000000000000001', '0.29999999999999999', '9.9999999999999992e+22', '0.1000000000000000055511151231257827'],
])('%s reads back as it was sent', (literal) => {
  expect(isLossyNumber(literal)).toBe(false);
});

const ROUNDED = [
  ...['1e400', '-1e400', '1e309', '1e99999999999999999999', '9'.repeat(400)],
  ...['1e-400', '1e-324', '-1e-99999999999999999999', `0.${'0'.repeat(400)}1`, '4e-324'],
  ...['9007199254740993', '-9007199254740993', '9007199254740993.0', '9007199254740993e0', '900719925474099.3e1'],
  // Exact as a double, and yet read back as 18446744073709552000 by whoever has larger whole numbers.
  ...['18446744073709551616', '18446744073709551615', '12345678901234567890', '1234567890123456789012345678901e-10'],
  ...['12345678901234567.89', '0.12345678901234567890', '0.3333333333333333333333333333', '3.14159265358979323846'],
  ...[`0.${'3'.repeat(100_000)}`, '7'.repeat(100_000), `1${'0'.repeat(100_000)}1e-100001`],
];

test.each(ROUNDED.map((literal) => [literal.slice(0, 40), literal]))(
  '%s would read back as another number',
  (_start, literal) => {
    expect(isLossyNumber(literal)).toBe(true);
  },
);
