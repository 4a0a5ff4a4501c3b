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

export class LocalAudit {
  readonly #log: AuditLog;

  constructor(log: AuditLog) {
    this.#log = log;
  }

  async *entries(query: AuditQuery): AsyncGenerator<AuditEntry> {
    const since = readTime('since', query.since) ?? Number.NEGATIVE_INFINITY;
    const until = readTime('until', query.until) ?? Number.POSITIVE_INFINITY;
    const { project_id, what } = query;
    const mark = query.session_id === null ? null : sessionMark(query.session_id);
    await this.#log.chain();
    for await (const { number, entry, hash } of this.#rows()) {
      const note = readNote(entry);
      if (note === null) continue;
      const time = Date.parse(note.time);
      if (time < since || time >= until) continue;
      if (project_id !== null && note.project_id !== project_id) continue;
      if (what !== null && note.what !== what) continue;
      if (mark !== null && !note.ids.includes(mark)) continue;
      yield { number, ...note, hash };
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
    for await (const { number, entry, hash } of this.#rows()) {
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

  async *#rows(): AsyncGenerator<AuditRow> {
    let after = 0;
    for (;;) {
      const page = await this.#log.read(after);
      yield* page;
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.number;
    }
  }
}
