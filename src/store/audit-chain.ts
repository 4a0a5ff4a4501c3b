// The chain of audit entries: each hash covers the one before, so a changed, dropped or reordered entry breaks it. These functions know no
// database.
import { createHash } from 'node:crypto';
import { type AuditRow, mostIds } from './audit-log.ts';

interface Note {
  readonly what: string;
  readonly project_id: string | null;
  readonly key_id: string | null;
  readonly count: number;
  readonly ids: readonly string[];
}

/** The hash before the first entry. */
export const firstHash = '0'.repeat(64);

export function chainedHash(before: string, number: number, entry: string): string {
  return createHash('sha256').update(`${before} ${number} ${entry}`).digest('hex');
}

/** The rows that follow the head. Imports of one key that wait one behind the other become one entry. */
export function chained(
  head: Pick<AuditRow, 'number' | 'hash'> | null,
  waiting: readonly string[],
): readonly AuditRow[] {
  let { number, hash } = head ?? { number: 0, hash: firstHash };
  return gathered(waiting).map((entry) => {
    number += 1;
    hash = chainedHash(hash, number, entry);
    return { number, entry, hash };
  });
}

function gathered(waiting: readonly string[]): readonly string[] {
  const entries: string[] = [];
  let last: { note: Note; ids: string[] } | null = null;
  const end = () => {
    if (last !== null) entries.push(JSON.stringify({ ...last.note, count: last.ids.length, ids: last.ids }));
    last = null;
  };
  for (const text of waiting) {
    const note = JSON.parse(text) as Note;
    if (note.what !== 'import') {
      end();
      entries.push(text);
    } else if (last !== null && isOfOne(last.note, note) && last.ids.length < mostIds) {
      last.ids.push(...note.ids);
    } else {
      end();
      last = { note, ids: [...note.ids] };
    }
  }
  end();
  return entries;
}

function isOfOne(one: Note, other: Note): boolean {
  return one.project_id === other.project_id && one.key_id === other.key_id;
}
