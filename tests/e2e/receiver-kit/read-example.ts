import { readFile } from 'node:fs/promises';

const README = new URL('../../../packages/receiver/README.md', import.meta.url);

/** The code of an example in a kit's README: what people copy is what the tests run. */
export async function readExample(name: string, readme = README): Promise<string> {
  const [, code] = (await readFile(readme, 'utf8')).split(`<!-- example: ${name} -->\n\n\`\`\``);
  if (code === undefined) throw new Error(`the kit's README has no example named ${name}`);
  const [fenced = ''] = code.split('\n```\n');
  return `${fenced.slice(fenced.indexOf('\n') + 1)}\n`;
}
