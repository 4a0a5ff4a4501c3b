// Writes the rows of a backup into a new store. Keys are written last, so that no client can use the store before it is complete.
import type { CopyProgress } from '../service/administration.ts';
import type { BackupFacts } from '../service/backup-report.ts';
import {
  type AuditRow,
  type IdempotencyRow,
  type ProjectKeyRow,
  type ProjectRow,
  pageLimits,
  type SessionPart,
  type StoreRows,
  settingsBytes,
} from '../store/store-rows.ts';
import type { BackedUpModes, BackupLine } from './backup-lines.ts';
import { readBackup } from './backup-reading.ts';

/** A key of the store that was there before, and the name of its project. */
interface EarlierKey extends ProjectKeyRow {
  readonly project_name: string;
}

export interface BackupVerification {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** The name of the backup, for errors. */
  readonly place: string;
  readonly progress: CopyProgress;
  readonly signal: AbortSignal;
}

interface StoreRestoring extends BackupVerification {
  /** The new store, which holds nothing. */
  readonly rows: StoreRows;
  readonly earlierKeys: readonly EarlierKey[];
}

export interface RestoredStore {
  readonly facts: BackupFacts;
  readonly modes: BackedUpModes;
  readonly keys: { readonly restored: number; readonly kept: number };
}

/** Reads a backup to its end and checks it. */
export function verifyBackup({ chunks, place, progress, signal }: BackupVerification): Promise<BackupFacts> {
  const sessionProgress = new SessionProgress('verified', progress);
  return readBackup(chunks, place, (line, { sessions }) => {
    signal.throwIfAborted();
    sessionProgress.take(line, sessions);
  });
}

/**
 * Rejects with `STORE_DAMAGED` for a backup that is not whole. The caller then removes the new store. A key that the store before had keeps
 * its state: one that was revoked there is not restored as a valid one.
 */
export async function restoreStore(options: StoreRestoring): Promise<RestoredStore> {
  const { chunks, place, rows, earlierKeys, progress, signal } = options;
  const projects: ProjectRow[] = [];
  let modes: BackedUpModes = { default_mode: null, modes: {} };
  const keys: ProjectKeyRow[] = [];
  const batch = new RowBatch(rows);
  const sessionProgress = new SessionProgress('restored', progress);
  const facts = await readBackup(chunks, place, async (line, { sessions }) => {
    signal.throwIfAborted();
    sessionProgress.take(line, sessions);
    if (line.kind === 'project') {
      const { kind: _, ...project } = line;
      projects.push(project);
      await rows.addProjects([project]);
    } else if (line.kind === 'modes') {
      modes = { default_mode: line.default_mode, modes: line.modes };
    } else if (line.kind === 'key') {
      const { kind: _, hash, ...key } = line;
      keys.push({ ...key, hash: Buffer.from(hash, 'hex') });
    } else await batch.add(line);
  });
  await batch.flush();
  const keysToKeep = keysInProjects(earlierKeys, projects);
  const ids = new Set(keysToKeep.map(({ key_id }) => key_id));
  const restoredKeys = keys.filter(({ key_id }) => !ids.has(key_id));
  await rows.addKeys([...keysToKeep, ...restoredKeys]);
  return { facts, modes, keys: { restored: restoredKeys.length, kept: keysToKeep.length } };
}

/** The keys of the store before whose projects are in the backup, by their ids or else by their names. */
function keysInProjects(
  earlier: readonly EarlierKey[],
  projects: readonly ProjectRow[],
): readonly ProjectKeyRow[] {
  return earlier.flatMap(({ project_name, ...key }) => {
    const project =
      projects.find(({ project_id }) => project_id === key.project_id) ??
      projects.find(({ name }) => name === project_name);
    return project === undefined ? [] : [{ ...key, project_id: project.project_id }];
  });
}

/** Reports each session once. */
class SessionProgress {
  readonly #phase: 'verified' | 'restored';
  readonly #progress: CopyProgress;
  #last: string | null = null;

  constructor(phase: 'verified' | 'restored', progress: CopyProgress) {
    this.#phase = phase;
    this.#progress = progress;
  }

  take(line: BackupLine, all: number): void {
    if (this.#last === null) this.#progress.begin(this.#phase, all);
    this.#last ??= '';
    if (line.kind !== 'session' || line.session.session_id === this.#last) return;
    this.#last = line.session.session_id;
    this.#progress.finish(1);
  }
}

/** Collects rows and writes them in batches, each in one transaction. */
class RowBatch {
  readonly #rows: StoreRows;
  #project = '';
  #parts: SessionPart[] = [];
  #answers: IdempotencyRow[] = [];
  #audit: AuditRow[] = [];
  #messages = 0;
  #bytes = 0;

  constructor(rows: StoreRows) {
    this.#rows = rows;
  }

  async add(line: BackupLine): Promise<void> {
    if (line.kind === 'session') {
      const { project_id, session, messages } = line;
      if (project_id !== this.#project || this.#answers.length > 0) await this.flush();
      this.#project = project_id;
      this.#parts.push({ session, messages });
      this.#messages += messages.length;
      this.#bytes += settingsBytes(session);
      for (const { content } of messages) this.#bytes += content.length;
    } else if (line.kind === 'answer') {
      const { kind: _, project_id, request_hash, ...row } = line;
      if (project_id !== this.#project || this.#parts.length > 0) await this.flush();
      this.#project = project_id;
      this.#answers.push({ ...row, request_hash: Buffer.from(request_hash, 'hex') });
      this.#bytes += row.answer?.length ?? 0;
    } else if (line.kind === 'audit') {
      const { kind: _, ...row } = line;
      this.#audit.push(row);
      this.#bytes += row.entry.length;
    }
    const isFull =
      this.#parts.length + this.#answers.length + this.#audit.length >= pageLimits.sessions ||
      this.#messages >= pageLimits.messages ||
      this.#bytes >= pageLimits.textBytes;
    if (isFull) await this.flush();
  }

  async flush(): Promise<void> {
    const [parts, answers, audit] = [this.#parts, this.#answers, this.#audit];
    [this.#parts, this.#answers, this.#audit, this.#messages, this.#bytes] = [[], [], [], 0, 0];
    if (parts.length > 0) await this.#rows.addParts(this.#project, parts);
    if (answers.length > 0) await this.#rows.addIdempotency(this.#project, answers);
    if (audit.length > 0) await this.#rows.addAudit(audit);
  }
}
