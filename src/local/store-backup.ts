// Writes a backup of a store, as it is at one moment, while the store is used.
import { createHash } from 'node:crypto';
import type { CopyProgress } from '../service/administration.ts';
import type { BackupCounts, BackupFacts } from '../service/backup-report.ts';
import type { PartPage, PartPlace, StoreRowReads, StoreRows } from '../store/store-rows.ts';
import { type BackedUpModes, type BackupLine, backupFormat, lineText } from './backup-lines.ts';
import { auditPages, countEndedSessions, countSessions, idempotencyPages } from './row-pages.ts';

export interface StoreBackup {
  readonly original: Pick<StoreRows, 'atOneMoment'>;
  readonly modes: BackedUpModes;
  /** The store without user and password. */
  readonly from: string;
  readonly withKeys: boolean;
  readonly now: () => number;
  /** Takes the next part of the backup's text. */
  readonly write: (text: string) => Promise<void>;
  readonly progress: CopyProgress;
  readonly signal: AbortSignal;
}

export function backUpStore(options: StoreBackup): Promise<BackupFacts> {
  // The moment is no earlier than this time, so nothing that was acknowledged before it is missing.
  const made_at = new Date(options.now()).toISOString();
  return options.original.atOneMoment((rows) => writeRows(rows, made_at, options));
}

async function writeRows(rows: StoreRowReads, made_at: string, options: StoreBackup): Promise<BackupFacts> {
  const { from, modes, withKeys, progress } = options;
  const writer = new BackupWriter(options.write);
  const projects = await rows.projects();
  const sessions = await countSessions(rows, projects);
  const counts = {
    projects: projects.length,
    keys: 0,
    modes: Object.keys(modes.modes).length,
    sessions,
    messages: 0,
  };
  progress.begin('backed up', sessions);
  await writer.add({ kind: 'backup', format: backupFormat, made_at, from, sessions });
  for (const project of projects) await writer.add({ kind: 'project', ...project });
  await writer.add({ kind: 'modes', ...modes });
  for (const { hash, ...key } of withKeys ? await rows.keys() : []) {
    await writer.add({ kind: 'key', ...key, hash: Buffer.from(hash).toString('hex') });
    counts.keys += 1;
  }
  for (const { project_id } of projects)
    counts.messages += await writeSessions(rows, project_id, writer, options);
  let stored_answers = 0;
  for (const { project_id } of projects)
    stored_answers += await writeAnswers(rows, project_id, writer, options.signal);
  await writeAudit(rows, writer, options.signal);
  const allCounts: BackupCounts = { ...counts, stored_answers };
  const { bytes, sha256 } = await writer.end(allCounts);
  return { made_at, from, ...allCounts, bytes, sha256 };
}

/** The number of messages. */
async function writeSessions(
  rows: StoreRowReads,
  project_id: string,
  writer: BackupWriter,
  { progress, signal }: StoreBackup,
): Promise<number> {
  let messages = 0;
  let place: PartPlace | null = null;
  do {
    signal.throwIfAborted();
    const page: PartPage = await rows.readParts(project_id, place);
    for (const part of page.parts) {
      await writer.add({ kind: 'session', project_id, ...part });
      messages += part.messages.length;
    }
    progress.finish(countEndedSessions(page));
    place = page.next;
  } while (place !== null);
  return messages;
}

async function writeAnswers(
  rows: StoreRowReads,
  project_id: string,
  writer: BackupWriter,
  signal: AbortSignal,
): Promise<number> {
  let count = 0;
  for await (const page of idempotencyPages(rows, project_id, signal)) {
    for (const { request_hash, ...row } of page)
      await writer.add({
        kind: 'answer',
        project_id,
        ...row,
        request_hash: Buffer.from(request_hash).toString('hex'),
      });
    count += page.length;
  }
  return count;
}

async function writeAudit(rows: StoreRowReads, writer: BackupWriter, signal: AbortSignal): Promise<void> {
  for await (const page of auditPages(rows, signal)) {
    for (const row of page) await writer.add({ kind: 'audit', ...row });
  }
}

/** The size of the parts that are written, in UTF-16 units. */
const partLength = 256 * 1024;

class BackupWriter {
  readonly #write: (text: string) => Promise<void>;
  readonly #hash = createHash('sha256');
  #part = '';
  #bytes = 0;

  constructor(write: (text: string) => Promise<void>) {
    this.#write = write;
  }

  async add(line: BackupLine): Promise<void> {
    this.#part += lineText(line);
    if (this.#part.length >= partLength) await this.#flush();
  }

  async end(counts: BackupCounts): Promise<{ readonly bytes: number; readonly sha256: string }> {
    await this.#flush();
    const sha256 = this.#hash.digest('hex');
    const lastLine = lineText({ kind: 'end', ...counts, sha256 });
    await this.#write(lastLine);
    return { bytes: this.#bytes + Buffer.byteLength(lastLine), sha256 };
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.from(this.#part);
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    const part = this.#part;
    this.#part = '';
    await this.#write(part);
  }
}
