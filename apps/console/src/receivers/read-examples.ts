/** The examples of the kits' READMEs that the console shows, those of `/docs/receiving`, and the name of each language. */
export const EXAMPLE_FILES = [
  ['express.mjs', 'Node'],
  ['fastapi_app.py', 'Python'],
  ['receiver.go', 'Go'],
  ['receiver.php', 'PHP'],
  ['config.ru', 'Ruby'],
] as const;

const EXAMPLE = /<!-- example: (\S+) -->\n+```\w*\n([\s\S]*?)\n```/g;

/** The examples of a page, by the names of their files. */
export function readExamples(page: string): ReadonlyMap<string, string> {
  return new Map([...page.matchAll(EXAMPLE)].map(([, name = '', code = '']) => [name, code]));
}
