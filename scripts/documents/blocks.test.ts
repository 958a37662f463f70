import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { FOLLOWED_ALONE, FOLLOWED_BESIDE_START, FOLLOWED_WITH_PYTHON } from './followed-pages.ts';
import { readBlocks, type Block } from './read-blocks.ts';

const ROOT = join(import.meta.dirname, '../..');
// The packages' own pages have tests of their own, such as tests/e2e/receiver-kit.
const PAGES = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md'], { cwd: ROOT }).sort();
const BLOCKS = PAGES.flatMap(readBlocks);
const FOLLOWED = [...FOLLOWED_BESIDE_START, ...Object.keys(FOLLOWED_WITH_PYTHON), ...FOLLOWED_ALONE];

function checkShell(text: string): void {
  const { status, stderr } = spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

/** What a block of each language must pass. Nothing is asked of what arrives or is printed, and of a line of HTML. */
const CHECKS: Readonly<Record<string, (text: string) => void>> = {
  sh: checkShell,
  yaml: parse,
  json: JSON.parse,
  // Its own parser needs a browser: pictures are looked at. What is none is found.
  mermaid(text) {
    if (!/^(flowchart (LR|TD)|sequenceDiagram)\n/.test(text)) throw new Error('not a diagram that the pages use');
  },
  // tests/e2e/client/other-languages.test.ts runs these.
  python: () => undefined,
  go: () => undefined,
  text: () => undefined,
  html: () => undefined,
};

const placeOf = ({ page, line }: Block) => `${page}:${line}`;

test('every block of code names a language that the pages use, and is written in it', () => {
  expect(BLOCKS.length).toBeGreaterThan(40);
  const wrong = BLOCKS.flatMap((block) => {
    try {
      const check = CHECKS[block.language];
      if (!check) throw new Error(`no check for the language "${block.language}"`);
      check(block.text);
      return [];
    } catch (error) {
      return [`${placeOf(block)} ${String(error)}`];
    }
  });
  expect(wrong).toEqual([]);
});

test('commands stand on pages that a test follows, or say why no test runs them', () => {
  const commands = BLOCKS.filter(({ language }) => language === 'sh');
  const unexplained = commands.filter(({ page, note }) => !FOLLOWED.includes(page) && !/^not run: .{10}/.test(note));
  expect(unexplained.map(placeOf)).toEqual([]);
});

test('what a page says that commands print follows commands that are run', () => {
  const printed = BLOCKS.flatMap((block, index) => (block.note.startsWith('prints') ? [{ block, index }] : []));
  expect(printed.length).toBeGreaterThan(15);
  const astray = printed.filter(({ block, index }) => {
    const before = BLOCKS[index - 1];
    return before?.page !== block.page || before.language !== 'sh' || before.note.startsWith('not run');
  });
  expect(astray.map(({ block }) => placeOf(block))).toEqual([]);
});

test('every page that is followed has commands', () => {
  expect(FOLLOWED.filter((page) => !readBlocks(page).some(({ language }) => language === 'sh'))).toEqual([]);
});

test('comments on blocks are those that tests know', () => {
  const unknown = BLOCKS.filter(
    ({ note }) => note !== '' && !/^(not run: |prints$|prints, after a while$|example: )/.test(note),
  );
  expect(unknown.map(placeOf)).toEqual([]);
});
