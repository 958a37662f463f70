const EXAMPLE = /<!-- example: (\S+) -->\n+```\w*\n([\s\S]*?)\n```/g;

/** The examples of a page, by the names of their files. */
export function readExamples(page: string): ReadonlyMap<string, string> {
  return new Map([...page.matchAll(EXAMPLE)].map(([, name = '', code = '']) => [name, code]));
}
