/** How much of a secret, from its start or to its end, counts as having slipped out. */
const PART = 16;

/** Every spelling in which a secret, or a good part of it, could slip out. */
function spellingsOf(text: string, bytes?: Buffer): string[] {
  // The id of a key, which its text carries, is no secret.
  const core = text.replace(/^(whsec|hrl[dp])_([0-9a-f]{16}_)?/, '');
  const whole = [core, Buffer.from(text).toString('base64').replace(/=+$/, ''), Buffer.from(text).toString('hex')];
  const binary = bytes ? [bytes.toString('hex'), bytes.toString('base64url'), bytes.toString('latin1')] : [];
  const plain = [...whole, ...binary, encodeURIComponent(core)];
  const parts = [core.slice(0, PART), core.slice(-PART)].filter((part) => part.length === PART);
  const all = [...plain, ...parts];
  return [...new Set([...all, ...all.map((spelling) => JSON.stringify(spelling).slice(1, -1))])];
}

export interface LeakFinder {
  /** `<secret's place in the list>` of each that is in the text, in whatever spelling. */
  findIn(text: string): string[];
}

export function createLeakFinder(
  secrets: Readonly<Record<string, readonly string[]>>,
  encoded: readonly string[],
): LeakFinder {
  const spellings = Object.entries(secrets).flatMap(([name, texts]) =>
    texts.map((text, index) => {
      const bytes = encoded.includes(name) ? Buffer.from(text.replace(/^whsec_/, ''), 'base64') : undefined;
      return { name: `${name} ${index}`, all: spellingsOf(text, bytes) };
    }),
  );
  return {
    findIn: (text) =>
      spellings.filter(({ all }) => all.some((spelling) => text.includes(spelling))).map(({ name }) => name),
  };
}
