/** A table in Markdown. A cell is one line, and a bar in it is no border. */
export function renderTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(toCell).join(' | ')} |`;
  return [line(columns), `|${columns.map(() => ' --- |').join('')}`, ...rows.map(line)].join('\n');
}

const toCell = (text: string) => text.replaceAll(/\s+/g, ' ').trim().replaceAll('|', '\\|');
