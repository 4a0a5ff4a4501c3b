// The rows of a table as they are written: `| a | b |`.

const ruleCell = /^[ \t]*:?-+:?[ \t]*$/;

/** Cells of a row, each as Markdown. A pipe after a backslash parts nothing. */
export function cellsOf(row: string): readonly string[] {
  const inner = row
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

export type Alignment = 'left' | 'right' | 'centre';

/** Null if the line is not the rule below a table's head: `|---|:-:|`. */
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

/** What the rule of a table may still become. */
export const ruleBeginning = /^[-:| \t]*$/;
