// Parses the rows of a table: `| a | b |` and the delimiter row `|---|:-:|`.

const ruleCell = /^[ \t]*:?-+:?[ \t]*$/;

/** The cells of a row, as Markdown. A pipe after a backslash does not separate cells. */
export function cellsOf(row: string): readonly string[] {
  const inner = row
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

export type Alignment = 'left' | 'right' | 'centre';

/** Null if the line is not a delimiter row. */
export function alignmentsOf(line: string): readonly Alignment[] | null {
  if (!line.includes('|')) return null;
  const inner = line.trim().replace(/^\|/, '').replace(/\|$/, '');
  const cells = inner.split('|');
  if (!cells.every((cell) => ruleCell.test(cell))) return null;
  return cells.map((cell) => {
    const mark = cell.trim();
    if (!mark.endsWith(':')) return 'left';
    return mark.startsWith(':') ? 'centre' : 'right';
  });
}

/** Text that may still become a delimiter row. */
export const ruleBeginning = /^[-:| \t]*$/;
