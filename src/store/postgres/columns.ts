// Items as the columns that unnest() makes rows of: one array for each column, and the number of the item with it.

/** For a statement that begins with `unnest($1::integer[], …)`: the numbers of the items, then a column for each name. */
export function columnsOf<Item>(items: readonly Item[], ...columns: readonly ((item: Item) => unknown)[]) {
  return [items.map((_, index) => index), ...columns.map((column) => items.map(column))];
}

/** The rows of such a statement by the number of their item. */
export function byNumber<Row extends { readonly number: number }>(
  rows: readonly Row[],
): ReadonlyMap<number, Row> {
  return new Map(rows.map((row) => [row.number, row]));
}
