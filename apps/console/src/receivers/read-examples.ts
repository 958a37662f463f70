/** The examples of the kit's README that the console shows, and the name of each one's language. */
export const EXAMPLE_FILES = [
  ['express.mjs', 'Node'],
  ['receiver.py', 'Python'],
  ['receiver.go', 'Go'],
  ['config.ru', 'Ruby'],
  ['receiver.php', 'PHP'],
] as const;

const EXAMPLE = /<!-- example: (\S+) -->\n+```\w*\n([\s\S]*?)\n```/g;

/** The examples of a page, by the names of their files. */
export function readExamples(page: string): ReadonlyMap<string, string> {
  return new Map([...page.matchAll(EXAMPLE)].map(([, name = '', code = '']) => [name, code]));
}
