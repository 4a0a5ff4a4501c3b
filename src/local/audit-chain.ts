// The chain of audit entries: each hash covers the one before, so a changed, dropped or reordered entry breaks it. These functions know no
// database. A chained entry names a session by a hash of its id. A purge therefore leaves no id, but a known id can still be looked for.
import { hash } from 'node:crypto';
import type { AuditEntry, AuditHead } from '../service/audit-entry.ts';
import type { AuditRow } from '../store/session-store.ts';

type Note = Omit<AuditEntry, 'number' | 'hash'>;

/** The hash before the first entry. */
export const firstHash = '0'.repeat(64);

export function chainedHash(before: string, number: number, entry: string): string {
  return hash('sha256', `${before} ${number} ${entry}`);
}

/** The name of a session in the log: 64 bits of the SHA-256 of its id. */
export function sessionMark(sessionId: string): string {
  return hash('sha256', sessionId).slice(0, 16);
}

/** A purge records marks instead of ids, because it leaves no id. Every id begins with `ses_`. */
function markOf(idOrMark: string): string {
  return /^[\da-f]{16}$/.test(idOrMark) ? idOrMark : sessionMark(idOrMark);
}

/** Null for a text that is not an entry, as in a damaged file. */
export function readNote(text: string): Note | null {
  let note: Partial<Note> | null;
  try {
    note = JSON.parse(text);
  } catch {
    return null;
  }
  const isNote =
    typeof note?.time === 'string' &&
    typeof note.what === 'string' &&
    typeof note.count === 'number' &&
    Array.isArray(note.ids) &&
    note.ids.every((id) => typeof id === 'string');
  return isNote ? (note as Note) : null;
}

/** The most sessions of an entry that gathers many calls. */
const maxIds = 1000;
/** The kinds of entries whose ids are those of keys. The ids of all other entries are those of sessions. */
const kindsOfKeys: readonly string[] = ['key_created', 'key_revoked', 'refused_login'];

/**
 * The rows that follow the head. Consecutive imports of one key become one entry. A text that is not an entry is
 * kept unchanged: it does not stop the others, and a check reports it.
 */
export function chainEntries(head: AuditHead | null, waiting: readonly string[]): readonly AuditRow[] {
  let last = head ?? { number: 0, hash: firstHash };
  return gather(waiting).map((entry) => {
    const number = last.number + 1;
    last = { number, hash: chainedHash(last.hash, number, entry) };
    return { number, entry, hash: last.hash };
  });
}

function gather(waiting: readonly string[]): readonly string[] {
  const entries: string[] = [];
  let last: { note: Note; ids: string[] } | null = null;
  const end = () => {
    if (last !== null) entries.push(JSON.stringify({ ...last.note, count: last.ids.length, ids: last.ids }));
    last = null;
  };
  for (const text of waiting) {
    const waitingNote = readNote(text);
    if (waitingNote === null) {
      end();
      entries.push(text);
      continue;
    }
    const note = kindsOfKeys.includes(waitingNote.what)
      ? waitingNote
      : { ...waitingNote, ids: waitingNote.ids.map(markOf) };
    if (note.what !== 'import') {
      end();
      entries.push(JSON.stringify(note));
    } else if (last !== null && isSameOrigin(last.note, note) && last.ids.length < maxIds) {
      last.ids.push(...note.ids);
    } else {
      end();
      last = { note, ids: [...note.ids] };
    }
  }
  end();
  return entries;
}

function isSameOrigin(one: Note, other: Note): boolean {
  return one.project_id === other.project_id && one.key_id === other.key_id;
}
