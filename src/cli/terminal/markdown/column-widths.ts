// How wide the columns of a table are: as wide as they would like to be, or the widest cut to what there is.

/** Narrower, a column cannot be read. */
const narrowest = 6;

/** Null if there is not even room for the narrowest columns. `available` is without the space between them. */
export function columnWidths(natural: readonly number[], available: number): readonly number[] | null {
  if (sum(natural) <= available) return natural;
  const order = natural.map((width, at) => ({ width, at })).sort((one, other) => one.width - other.width);
  const widths = [...natural];
  let left = available;
  // The narrow columns keep their width; those that want more than an equal part of the rest share it.
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
