// Computes the widths of a table's columns: the natural widths if they fit, otherwise the wide columns share what is left.

/** A narrower column is not readable. */
const narrowest = 6;

/** Null if even the narrowest columns do not fit. `available` excludes the space between the columns. */
export function columnWidths(natural: readonly number[], available: number): readonly number[] | null {
  if (sum(natural) <= available) return natural;
  const order = natural.map((width, at) => ({ width, at })).sort((one, other) => one.width - other.width);
  const widths = [...natural];
  let left = available;
  // Narrow columns keep their width. Columns wider than an equal part of the rest share the rest.
  for (const [taken, { width, at }] of order.entries()) {
    const part = Math.floor(left / (order.length - taken));
    const given = Math.min(width, part);
    if (given < Math.min(width, narrowest)) return null;
    widths[at] = given;
    left -= given;
  }
  return widths;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
