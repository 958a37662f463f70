/** A double keeps this many digits of any number that is neither huge nor tiny. */
const ALWAYS_KEPT_DIGITS = 15;
/** Below about 2e-308 a double keeps fewer. */
const SURELY_NOT_TINY = 1e-300;
/** The limit of `toPrecision`. No program writes a double with more digits. */
const MOST_DIGITS = 100;

/** Digits without leading and trailing zeros, and the power of ten of the last one. */
type Decimal = { readonly digits: string; readonly exponent: number };

/**
 * Whether a JSON number reads back as another one, because a double cannot hold it. A whole number must keep its value.
 * One with a point or an exponent may also be a double with more digits than necessary, such as 0.10000000000000001 for
 * 0.1. Then each digit must be one of the double.
 */
export function isLossyNumber(literal: string): boolean {
  const value = Number(literal);
  const isOfUsualSize = Number.isFinite(value) && Math.abs(value) > SURELY_NOT_TINY;
  if (literal.length <= ALWAYS_KEPT_DIGITS && isOfUsualSize) return false;
  const sent = toDecimal(literal);
  if (sent.digits === '') return false;
  if (sent.digits.length > MOST_DIGITS || value === 0 || !Number.isFinite(value)) return true;
  if (isSame(sent, toDecimal(String(value)))) return false;
  const isWhole = !/[.e]/i.test(literal);
  return isWhole || !isSame(sent, toDecimal(value.toPrecision(sent.digits.length)));
}

function toDecimal(literal: string): Decimal {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(literal) ?? [];
  const digits = whole + fraction;
  let start = 0;
  let end = digits.length;
  // A regular expression for the trailing zeros would backtrack at each zero before them.
  while (start < end && digits[start] === '0') start++;
  while (end > start && digits[end - 1] === '0') end--;
  return { digits: digits.slice(start, end), exponent: Number(exponent) - fraction.length + digits.length - end };
}

function isSame(one: Decimal, other: Decimal): boolean {
  return one.digits === other.digits && one.exponent === other.exponent;
}
