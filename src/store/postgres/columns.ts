// Turns items into the arrays that unnest() makes rows of: first the numbers of the items, then one array per column.

/** The values for a statement that begins with `unnest($1::integer[], …)`: the numbers of the items, then the given columns. */
export function columnsOf<Item>(items: readonly Item[], ...columns: readonly ((item: Item) => unknown)[]) {
  return [items.map((_, index) => index), ...columns.map((column) => items.map(column))];
}

/** One array per field, in the order of the names. */
export function fieldsOf<Row>(rows: readonly Row[], names: readonly (keyof Row)[]): readonly unknown[] {
  return names.map((name) => rows.map((row) => row[name]));
}

/** The result rows of such a statement, by the number of their item. */
export function byNumber<Row extends { readonly number: number }>(
  rows: readonly Row[],
): ReadonlyMap<number, Row> {
  return new Map(rows.map((row) => [row.number, row]));
}
