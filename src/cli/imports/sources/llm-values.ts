// Values that the older and the newer tables of llm's log have in common.
import type { ForeignDatabase } from '../foreign-database.ts';
import { textOf, timeOfText } from '../foreign-value.ts';

export function attachmentName(id: string, database: ForeignDatabase): string {
  const [row] = database.rows('SELECT path, url, type FROM attachments WHERE id = ?', [id]);
  const path = textOf(row?.['path'])?.replace(/^.*[\\/]/, '') ?? null;
  return path ?? textOf(row?.['url']) ?? textOf(row?.['type']) ?? 'file';
}

/** Times without a zone are in UTC. */
export function timeInUtc(value: unknown): number | null {
  const at = textOf(value);
  if (at === null) return null;
  return timeOfText(/[Zz]|[+-]\d\d:\d\d$/.test(at) ? at : `${at.replace(' ', 'T')}Z`);
}
