// The table of a run: one line per phase.

const columns = [
  ['phase', 16],
  ['requests', 9],
  ['answered', 9],
  ['503', 6],
  ['failed', 7],
  ['lost', 5],
  ['doubled', 8],
  ['longest outage ms', 18],
  ['first success after return ms', 0],
];

export const tableHead = columns.map(([name, width]) => name.padEnd(width)).join(' ');

export function tableRow(name, { requests, answered, refusals, failed, lost, doubled, longestMs, returnMs }) {
  const cells = [name, requests, answered, refusals, failed, lost, doubled, longestMs, returnMs];
  return cells.map((cell, index) => shown(cell).padEnd(columns[index][1])).join(' ');
}

export function say(line) {
  process.stdout.write(`${line}\n`);
}

function shown(cell) {
  if (cell === null) return '-';
  return typeof cell === 'number' ? String(Math.round(cell)) : cell;
}
