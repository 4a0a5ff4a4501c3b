// Removes erased texts from the planner's statistics, which hold samples of the texts in a table. ANALYZE replaces the statistics of a
// table, but not those of an empty table. There ALTER COLUMN TYPE with the same type removes them.
import type { ConnectionPool } from './connection-pool.ts';
import { quotedName, statement } from './statement.ts';

const textColumns = statement(`
  SELECT kind.relname AS table, column_of.attname AS column,
    format_type(column_of.atttypid, column_of.atttypmod) AS type, collation_of.collname AS collation
  FROM pg_class AS kind
  LEFT JOIN pg_attribute AS column_of ON column_of.attrelid = kind.oid AND column_of.attnum > 0
    AND NOT column_of.attisdropped AND column_of.atttypid IN ('text'::regtype, 'tsvector'::regtype)
  LEFT JOIN pg_collation AS collation_of ON collation_of.oid = column_of.attcollation
  WHERE kind.relkind = 'r'
    AND kind.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'parley.meta'::regclass)
  ORDER BY kind.relname, column_of.attnum`);

interface TextColumn {
  readonly table: string;
  /** Null for a table without text columns. */
  readonly column: string | null;
  readonly type: string;
  readonly collation: string | null;
}

/** All tables of the store. */
export async function tablesOf({ ask }: ConnectionPool): Promise<readonly string[]> {
  return [...new Set((await ask<TextColumn>(textColumns)).map(({ table }) => table))];
}

/** Replaces the statistics of all tables of the store. Only the owner of the tables may do this. */
export async function renewStatistics(connections: ConnectionPool): Promise<void> {
  const columns = await connections.ask<TextColumn>(textColumns);
  for (const table of new Set(columns.map((one) => one.table))) {
    const place = `parley.${quotedName(table)}`;
    const rows = await connections.askOnce(statement(`SELECT 1 FROM ${place} LIMIT 1`));
    const texts = columns.filter((one) => one.table === table && one.column !== null);
    if (rows.length > 0) await connections.askOnce(statement(`ANALYZE ${place}`));
    else if (texts.length > 0) {
      const changes = texts.map(({ column, type, collation }) => {
        const compared = collation === null ? '' : ` COLLATE ${quotedName(collation)}`;
        return `ALTER COLUMN ${quotedName(column ?? '')} TYPE ${type}${compared}`;
      });
      await connections.askOnce(statement(`ALTER TABLE ${place} ${changes.join(', ')}`));
    }
  }
}
