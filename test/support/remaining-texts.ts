// Searches a store for texts from outside: in the files of SQLite, in the rows of PostgreSQL.
import { spawnSync } from 'node:child_process';
import type { PostgresDatabase } from './postgres-server.ts';

/** Another process reads the files, because closing one here would release the locks of the store. */
export async function textsInFiles(directory: string, texts: readonly string[]): Promise<readonly string[]> {
  const found = spawnSync('grep', ['-raohF', '-f', '-', directory], { input: texts.join('\n') });
  if (found.status !== 0 && found.status !== 1) throw new Error(String(found.stderr));
  return [...new Set(found.stdout.toString().split('\n').filter(Boolean))];
}

export async function textsInRows(
  database: PostgresDatabase,
  texts: readonly string[],
): Promise<readonly string[]> {
  const tables = (await database.rows(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'parley'`,
  )) as readonly { readonly name: string }[];
  const rows = await Promise.all(
    tables.map(({ name }) => database.rows(`SELECT one::text AS text FROM parley.${name} AS one`)),
  );
  const all = (rows.flat() as readonly { readonly text: string }[]).map(({ text }) => text).join('\n');
  return texts.filter((text) => all.includes(text));
}
