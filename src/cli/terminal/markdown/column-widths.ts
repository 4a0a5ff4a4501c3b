// Computes the widths of a table's columns: the natural widths if they fit. Otherwise the wide columns share the remaining width.

/** A narrower column is not readable. */
const minWidth = 6;

/** Null if the columns do not fit even with this width. `available` excludes the space between the columns. */
export function columnWidths(natural: readonly number[], available: number): readonly number[] | null {
  if (sum(natural) <= available) return natural;
  const order = natural.map((width, at) => ({ width, at })).sort((one, other) => one.width - other.width);
  const widths = [...natural];
  let remaining = available;
  // Narrow columns keep their width. Columns wider than an equal share of the remaining width get that share.
  for (const [done, { width: natural, at }] of order.entries()) {
    const share = Math.floor(remaining / (order.length - done));
    const width = Math.min(natural, share);
    if (width < Math.min(natural, minWidth)) return null;
    widths[at] = width;
    remaining -= width;
  }
  return widths;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
