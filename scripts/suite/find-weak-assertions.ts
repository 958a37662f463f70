/** Places in the text of a test that prove less than they seem to. */
export type WeakAssertions = {
  /** Of a time to live they ask only whether there is one: a second passes as well as a month. */
  readonly timesToLive: readonly string[];
  /** Of a sentence they ask only for its full stop. */
  readonly sentences: readonly string[];
  /** What was drawn can't be drawn again. */
  readonly unseeded: readonly string[];
  /** They wait for a fixed time. */
  readonly pauses: readonly string[];
};

const TTL_CALL = String.raw`[\w.]*[rR]edis\w*\.p?ttl\([^;]*?\)`;
/** All that a time to live may be, as long as there is one. */
const ANY_TTL = String.raw`(?:\.toBeGreaterThan\((?:0|-1|-2)\)|\.toBeGreaterThanOrEqual\([01]\)|\s*>=? *[01-]\d*\b)`;

export function findWeakAssertions(text: string): WeakAssertions {
  const named = [...text.matchAll(/\bconst (\w+) = await [\w.]*\.p?ttl\(/g)].map(([, name = '']) => name);
  const ttls = [TTL_CALL, ...named.map((name) => String.raw`\b${name}\b`)];
  return {
    timesToLive: ttls.flatMap((ttl) => find(text, new RegExp(String.raw`expect\((?:await )?${ttl}\)?${ANY_TTL}`, 'g'))),
    sentences: find(text, /toMatch\(\/\\\.\$\/\)/g),
    unseeded: find(text, /\bMath\.random\b|\brandomInt\(/g),
    pauses: findPauses(text),
  };
}

function findPauses(text: string): string[] {
  const [, promised = '', alias = promised] =
    /import \{[^}]*\b(setTimeout)(?: as (\w+))?[^}]*\} from 'node:timers\/promises'/.exec(text) ?? [];
  const awaited = promised === '' ? [] : find(text, new RegExp(String.raw`await ${alias}\(`, 'g'));
  return [...awaited, ...find(text, /await new Promise\(\(\w+\) => (?:\{\s*)?setTimeout\(\w+,/g)];
}

function find(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([found]) => found);
}
