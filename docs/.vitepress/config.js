import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';

// The site of these documents. Its dependencies are in this folder, so that `npm ci` of the repository stays without them.

const docs = new URL('..', import.meta.url);
const { description, repository } = JSON.parse(readFileSync(new URL('../package.json', docs), 'utf8'));
const page = repository.url.replace(/^git\+/, '').replace(/\.git$/, '');

/** The pages in the tables of README.md, by its headings. */
const sidebar = readFileSync(new URL('README.md', docs), 'utf8')
  .split(/^## /m)
  .slice(1)
  .map((part) => ({
    text: part.slice(0, part.indexOf('\n')),
    items: [...part.matchAll(/^\| \[([^\]]+)\]\(([\w./-]+)\)/gm)].map(([, text, link]) => ({
      text: text.replaceAll('`', '').replace(/\.md$/, ''),
      link: leavesDocs('README.md', link) ? addressOf('README.md', link) : `/${link.replace(/\.md$/, '')}`,
    })),
  }));

export default defineConfig({
  title: 'Herald',
  description,
  rewrites: { 'README.md': 'index.md' },
  markdown: { config: (md) => md.core.ruler.push('leave-docs', leadOut), anchor: { slugify } },
  // The pages lie outside this folder, and are programs that import it.
  vite: { resolve: { alias: { vue: fileURLToPath(new URL('node_modules/vue', import.meta.url)) } } },
  themeConfig: { sidebar, search: { provider: 'local' }, outline: [2, 3] },
});

/** Whether a link leads to what is no page: a file elsewhere in the repository, or a folder. */
function leavesDocs(from, link) {
  if (/^(\w+:|#)/.test(link)) return false;
  const [path] = link.split('#');
  return posix.join('docs', posix.dirname(from), path).startsWith('docs/') ? !/\.(md|png|svg)$/.test(path) : true;
}

/** Where the repository shows it. */
function addressOf(from, link) {
  return `${page}/blob/main/${posix.join('docs', posix.dirname(from), link)}`;
}

function leadOut({ tokens, env }) {
  const from = posix.relative('/', posix.resolve('/', env.relativePath)).replace(/^index\.md$/, 'README.md');
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    const link = token.attrGet('href');
    if (token.type === 'link_open' && leavesDocs(from, link)) token.attrSet('href', addressOf(from, link));
  }
}

/** As GitHub makes them, and the links expect. */
function slugify(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}
