// Finds the name that somebody meant who typed a similar word.

/** The name that is most similar to the word. Null if none is similar enough. */
export function nearestName(word: string, names: readonly string[]): string | null {
  let nearest: string | null = null;
  let minChanges = Math.max(2, Math.ceil(word.length / 3)) + 1;
  for (const name of names) {
    // The distance is at least the difference in length. A word may be very long.
    if (Math.abs(word.length - name.length) >= minChanges) continue;
    const changes = distance(word, name);
    if (changes < minChanges) [nearest, minChanges] = [name, changes];
  }
  return word === '' ? null : nearest;
}

/** The edit distance: the number of letters to add, remove, change, or swap with a neighbour. */
function distance(one: string, other: string): number {
  const rows = Array.from({ length: one.length + 1 }, (_, index) => [index]);
  const at = (row: number, column: number) => rows[row]?.[column] ?? 0;
  for (let column = 1; column <= other.length; column++) rows[0]?.push(column);
  for (let row = 1; row <= one.length; row++) {
    for (let column = 1; column <= other.length; column++) {
      const change = one[row - 1] === other[column - 1] ? 0 : 1;
      let cost = Math.min(at(row - 1, column) + 1, at(row, column - 1) + 1, at(row - 1, column - 1) + change);
      const swapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (swapped) cost = Math.min(cost, at(row - 2, column - 2) + 1);
      rows[row]?.push(cost);
    }
  }
  return at(one.length, other.length);
}
