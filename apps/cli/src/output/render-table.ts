import Table from 'cli-table3';

const BORDERS =
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid';
const NO_BORDERS = Object.fromEntries(BORDERS.split(' ').map((part) => [part, '']));

/** Columns aligned by their width on a terminal, with two blanks between them and no borders. */
export function renderTable(rows: readonly (readonly string[])[]): string {
  const table = new Table({
    chars: { ...NO_BORDERS, middle: '  ' },
    style: { 'padding-left': 0, 'padding-right': 0, border: [], compact: true },
  });
  table.push(...rows.map((row) => [...row]));
  return table.toString().replace(/ +$/gm, '');
}
