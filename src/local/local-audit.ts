// Reads the audit log of a store, and checks its chain.
import type {
  AuditEntry,
  AuditFault,
  AuditHead,
  AuditQuery,
  AuditVerification,
} from '../service/audit-entry.ts';
import type { AuditLog, AuditRow } from '../store/session-store.ts';
import { chainedHash, firstHash, readNote, sessionMark } from './audit-chain.ts';
import { readTime } from './text-rules.ts';

/** How many faults are named. */
const maxFaults = 10;
/** How many older entries are searched at a time for the newest that match. */
const stepBack = 1000;

export class LocalAudit {
  readonly #log: AuditLog;

  constructor(log: AuditLog) {
    this.#log = log;
  }

  async *entries(query: AuditQuery): AsyncGenerator<AuditEntry> {
    const find = finderOf(query);
    await this.#log.chain();
    for await (const row of this.#rows(0)) yield* find(row);
  }

  async newestEntries(query: AuditQuery, limit: number): Promise<readonly AuditEntry[]> {
    const find = finderOf(query);
    await this.#log.chain();
    let entries: readonly AuditEntry[] = [];
    // Numbers have no gaps in an intact log. The last part has no end, because a damaged log may go on after its head.
    let end = Number.POSITIVE_INFINITY;
    let after = Math.max(0, ((await this.#log.head())?.number ?? 0) - limit);
    for (;;) {
      const part: AuditEntry[] = [];
      for await (const row of this.#rows(after)) {
        if (row.number > end) break;
        part.push(...find(row));
      }
      entries = [...part, ...entries];
      if (after === 0 || entries.length >= limit) return entries.slice(-limit);
      end = after;
      after = Math.max(0, after - stepBack);
    }
  }

  async verify(noted: AuditHead | null): Promise<AuditVerification> {
    await this.#log.chain();
    const faults: AuditFault[] = [];
    const fault = (number: number, problem: AuditFault['problem']) => {
      if (faults.length < maxFaults) faults.push({ number, problem });
    };
    let entries = 0;
    let last: AuditHead | null = null;
    for await (const { number, entry, hash } of this.#rows(0)) {
      entries += 1;
      const expected: number = (last?.number ?? 0) + 1;
      if (number !== expected) fault(expected, 'missing');
      // After a gap, the hash cannot be compared.
      else if (chainedHash(last?.hash ?? firstHash, number, entry) !== hash) fault(number, 'changed');
      else if (readNote(entry) === null) fault(number, 'unreadable');
      if (number === noted?.number && hash !== noted.hash) fault(number, 'not_the_noted_one');
      last = { number, hash };
    }
    const head = await this.#log.head();
    const end = last?.number ?? 0;
    // Another process may have added entries since the last page was read.
    if (head !== null && head.number < end) fault(end, 'out_of_place');
    if ((head?.number ?? 0) > end && (await this.#log.read(end)).length === 0) fault(end + 1, 'missing');
    if (head !== null && head.number === end && head.hash !== last?.hash) fault(end, 'changed');
    if (noted !== null && noted.number > end) fault(end + 1, 'missing');
    return { entries, head: last, faults };
  }

  async *#rows(after: number): AsyncGenerator<AuditRow> {
    for (;;) {
      const page = await this.#log.read(after);
      yield* page;
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.number;
    }
  }
}

/** The entry of a row as a list; empty if the row is not an entry, or not one that the query asks for. */
function finderOf(query: AuditQuery): (row: AuditRow) => readonly AuditEntry[] {
  const since = readTime('since', query.since) ?? Number.NEGATIVE_INFINITY;
  const until = readTime('until', query.until) ?? Number.POSITIVE_INFINITY;
  const { project_id, what } = query;
  const mark = query.session_id === null ? null : sessionMark(query.session_id);
  return ({ number, entry, hash }) => {
    const note = readNote(entry);
    if (note === null) return [];
    const time = Date.parse(note.time);
    const isFound =
      !(time < since || time >= until) &&
      (project_id === null || note.project_id === project_id) &&
      (what === null || note.what === what) &&
      (mark === null || note.ids.includes(mark));
    return isFound ? [{ number, ...note, hash }] : [];
  };
}
