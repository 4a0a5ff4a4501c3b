// Reads a backup and checks it: the form of every line, the counts, and the SHA-256 at its end. A backup with one changed bit is refused.
import { createHash } from 'node:crypto';
import type { BackupCounts, BackupFacts } from '../service/backup-report.ts';
import { ParleyError } from '../service/errors.ts';
import {
  type BackupHead,
  type BackupLine,
  backupFormat,
  LineFault,
  lineText,
  readLine,
  type SessionLine,
  UnknownForm,
} from './backup-lines.ts';

/** The longest line, in bytes. A line holds one long message or many short ones. */
const maxLineBytes = 256 * 1024 * 1024;

/**
 * Reads a backup. `take` gets each line but the first and the last one, in their order, before the end is checked. Rejects with
 * `STORE_DAMAGED`, which names `place` and the line.
 */
export async function readBackup(
  chunks: AsyncIterable<Uint8Array>,
  place: string,
  take: (line: BackupLine, head: BackupHead) => void | Promise<void>,
): Promise<BackupFacts> {
  const hash = createHash('sha256');
  const tally = new Tally();
  let head: BackupHead | null = null;
  let end: (BackupCounts & { readonly sha256: string }) | null = null;
  let bytes = 0;
  let number = 0;
  for await (const line of linesOf(chunks, place)) {
    number += 1;
    bytes += line.length;
    const at = `${place}, line ${number}`;
    if (end !== null) throw damaged(at, 'comes after the end of the backup');
    const hint = head === null ? notABackup : anotherBackup;
    const text = decodeLine(line, at, hint);
    const record = parseLine(text, at, head === null);
    if (head === null) {
      if (record.kind !== 'backup') throw damaged(at, 'is not the beginning of a backup', hint);
      if (record.format !== backupFormat) throw ofNewerVersion(place, record.format);
      head = record;
    } else if (record.kind === 'end') {
      const { kind, ...rest } = record;
      end = rest;
      if (text !== lineText(record).slice(0, -1)) throw damaged(at, 'was changed');
      if (hash.digest('hex') !== end.sha256) throw damaged(place, 'was changed: its SHA-256 differs');
      tally.compare(end, at);
      continue;
    } else {
      tally.add(record, at);
      await take(record, head);
    }
    hash.update(line);
  }
  if (head === null) throw damaged(place, 'is empty');
  if (end === null) throw damaged(place, `ends at line ${number}, before its end`);
  const { sha256, ...counts } = end;
  return { made_at: head.made_at, from: head.from, ...counts, bytes, sha256 };
}

/** The lines with their line ends. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>, place: string): AsyncGenerator<Buffer, void> {
  let parts: Buffer[] = [];
  let length = 0;
  let hasLines = false;
  for await (const chunk of chunks) {
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      yield Buffer.concat([...parts, rest.subarray(0, at + 1)]);
      hasLines = true;
      [parts, length, rest] = [[], 0, rest.subarray(at + 1)];
    }
    if (rest.length === 0) continue;
    parts.push(rest);
    length += rest.length;
    if (length > maxLineBytes) throw damaged(place, 'holds a line that is too long for a backup');
  }
  if (length > 0) throw damaged(place, 'ends within a line', hasLines ? anotherBackup : notABackup);
}

function decodeLine(line: Buffer, at: string, hint: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(line.subarray(0, -1));
  } catch {
    throw damaged(at, 'is not UTF-8', hint);
  }
}

function parseLine(text: string, at: string, isFirst: boolean): BackupLine {
  try {
    return readLine(text);
  } catch (error) {
    if (!(error instanceof LineFault)) throw error;
    const hint = error instanceof UnknownForm ? newerVersion : anotherBackup;
    throw damaged(at, error.message, isFirst ? notABackup : hint);
  }
}

/** Counts the rows, and checks that they belong together. */
class Tally {
  readonly #counts = { projects: 0, keys: 0, modes: 0, sessions: 0, messages: 0, stored_answers: 0 };
  readonly #projects = new Set<string>();
  readonly #keys = new Set<string>();
  #session: { readonly id: string; readonly next: number; readonly missing: number } | null = null;

  add(line: BackupLine, at: string): void {
    if (line.kind === 'session') {
      this.#addSession(line, at);
      return;
    }
    this.#endSession(at);
    if ('project_id' in line && line.kind !== 'project' && !this.#projects.has(line.project_id))
      throw damaged(at, `names the project ${line.project_id}, which the backup does not have`);
    if (line.kind === 'project') {
      addOnce(this.#projects, line.project_id, at);
      this.#counts.projects += 1;
    } else if (line.kind === 'key') {
      addOnce(this.#keys, line.key_id, at);
      this.#counts.keys += 1;
    } else if (line.kind === 'modes') this.#counts.modes += Object.keys(line.modes).length;
    else if (line.kind === 'answer') this.#counts.stored_answers += 1;
    else if (line.kind !== 'audit') throw damaged(at, 'is out of place');
  }

  compare(end: BackupCounts, at: string): void {
    this.#endSession(at);
    for (const [name, count] of Object.entries(this.#counts)) {
      const stated = end[name as keyof BackupCounts];
      if (stated !== count) throw damaged(at, `counts ${stated} ${name}, but there are ${count}`);
    }
  }

  #addSession({ project_id, session, messages }: SessionLine, at: string): void {
    if (!this.#projects.has(project_id))
      throw damaged(at, `names the project ${project_id}, which the backup does not have`);
    const id = `${project_id} ${session.session_id}`;
    if (this.#session?.id !== id) {
      this.#endSession(at);
      this.#session = { id, next: 0, missing: session.message_count };
      this.#counts.sessions += 1;
    }
    let { next, missing } = this.#session;
    for (const { alternative_of, undone_at, position } of messages) {
      if (alternative_of !== null || undone_at !== null) continue;
      if (position !== next) throw damaged(at, `has position ${position} in place of ${next}`);
      next += 1;
      missing -= 1;
    }
    this.#session = { id, next, missing };
    this.#counts.messages += messages.length;
  }

  #endSession(at: string): void {
    if (this.#session !== null && this.#session.missing !== 0)
      throw damaged(at, `comes before session ${this.#session.id.split(' ')[1]} has all its messages`);
    this.#session = null;
  }
}

function addOnce(ids: Set<string>, id: string, at: string): void {
  if (ids.has(id)) throw damaged(at, `names ${id} twice`);
  ids.add(id);
}

const anotherBackup = 'It cannot be restored. Take another backup.';
const newerVersion = 'If a newer version of Parley made it, use that version. Otherwise take another backup.';
const notABackup =
  'It is not a backup, or it is compressed or encrypted. Pass the decompressed text on standard input.';

function damaged(place: string, problem: string, hint = anotherBackup): ParleyError {
  return new ParleyError('STORE_DAMAGED', `The backup is damaged: ${place} ${problem}.`, { hint });
}

function ofNewerVersion(place: string, format: number): ParleyError {
  const message = `The backup ${place} has format ${format}; this Parley knows format ${backupFormat}.`;
  return new ParleyError('STORE_NEWER', message, {
    hint: 'Use the version of Parley that made it, or a newer one.',
  });
}
