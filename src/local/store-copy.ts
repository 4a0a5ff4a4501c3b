// Copies all rows of a store into another, and compares the two. Sessions are copied in the order of their ids, one page per transaction
// and two at a time, so a stopped copy can be continued. Keys are copied last, so that no client can use the copy before it is complete.
import type { CopiedModes, CopiedProject, CopyProgress, CopyReport } from '../service/administration.ts';
import { hasCode, ParleyError } from '../service/errors.ts';
import {
  firstMessage,
  type PartPage,
  type PartPlace,
  type ProjectRow,
  type StoreRows,
} from '../store/store-rows.ts';
import { CopiedTexts } from './copied-texts.ts';
import { compareProject, copyDiffers, differences } from './copy-comparison.ts';
import { auditPages, countEndedSessions, countSessions, idempotencyPages } from './row-pages.ts';
import { pairDigests, sessionDigests } from './session-digests.ts';

export interface StoreCopy {
  readonly original: StoreRows;
  readonly copy: StoreRows;
  /** Both without user and password. */
  readonly from: string;
  readonly to: string;
  /** True: continues a stopped copy of the same original. */
  readonly resume: boolean;
  /** Copies the modes, which may be kept outside the two stores. */
  readonly copyModes: () => Promise<CopiedModes>;
  readonly progress: CopyProgress;
  readonly signal: AbortSignal;
}

/** The note that a copy keeps about itself: the original, and whether the copy is whole. */
interface CopyNote {
  readonly from: string;
  readonly isWhole: boolean;
}

/** How many sessions that differ are collected before they are copied again. */
const repairedAtOnce = 200;

export async function copyStore(options: StoreCopy): Promise<CopyReport> {
  const { original, copy, from, to, progress } = options;
  const isWhole = await begin(options);
  const projects = await original.projects();
  const sessions = await countSessions(original, projects);
  let stored_answers = 0;
  const textsOfProject = new Map<string, CopiedTexts | null>();
  if (!isWhole) {
    await copy.addProjects(projects);
    progress.begin('copied', sessions);
    for (const { project_id } of projects)
      textsOfProject.set(project_id, await copySessions(options, project_id));
    for (const { project_id } of projects) stored_answers += await copyIdempotency(options, project_id);
    await copyAudit(options);
  }
  progress.begin('compared', sessions);
  const copiedProjects: CopiedProject[] = [];
  try {
    for (const project of projects) {
      const texts = textsOfProject.get(project.project_id) ?? null;
      copiedProjects.push(await compareProject(options, project, texts));
    }
  } catch (error) {
    throw isWhole && hasCode(error, 'COPY_DIFFERS') ? usedSince(error) : error;
  }
  const modes = isWhole ? noModes : await options.copyModes();
  const keys = await original.keys();
  if (!isWhole) await copy.addKeys(keys);
  const differentRows = [
    ...differences('project', projects, await copy.projects(), ({ project_id }) => project_id),
    ...differences('key', keys, await copy.keys(), ({ key_id }) => key_id),
  ];
  if (differentRows.length > 0) {
    const differs = copyDiffers(differentRows.join(', '), 0);
    throw isWhole ? usedSince(differs) : differs;
  }
  await setNote(copy, { from, isWhole: true });
  return { from, to, projects: copiedProjects, keys: keys.length, modes, stored_answers };
}

/** The result for a copy that was whole already: its modes may have been changed since and are not copied again. */
const noModes: CopiedModes = { copied: 0, kept: [], faulty: [] };

/** True if the copy was whole already. Throws `USAGE` for a target that holds anything else. */
async function begin({ copy, from, to, resume }: StoreCopy): Promise<boolean> {
  const text = await copy.copyNote();
  const earlierNote = text === null ? null : (JSON.parse(text) as CopyNote);
  const projects = await copy.projects();
  // Keys are copied last. A copy with keys may be in use, so it is not overwritten.
  if (earlierNote !== null && earlierNote.from === from && resume)
    return earlierNote.isWhole || (await copy.keys()).length > 0;
  if (projects.length > 0 || earlierNote !== null) throw refusal(earlierNote, projects, from, to);
  await setNote(copy, { from, isWhole: false });
  return false;
}

function refusal(
  earlierNote: CopyNote | null,
  projects: readonly ProjectRow[],
  from: string,
  to: string,
): ParleyError {
  if (earlierNote !== null && earlierNote.from === from) {
    const state = earlierNote.isWhole ? 'a whole copy' : 'a part of a copy';
    return new ParleyError('USAGE', `The store ${to} is ${state} of ${from} already.`, {
      hint: 'Nothing was changed.',
      remedy: { kind: 'resume_copy' },
    });
  }
  const holds =
    earlierNote === null
      ? `holds data: the ${projects.length === 1 ? 'project' : 'projects'} ${projects.map(({ name }) => name).join(', ')}`
      : `is a copy of another store, ${earlierNote.from}`;
  return new ParleyError('USAGE', `The store ${to} ${holds}.`, {
    hint: 'Nothing was changed. A store is copied into one that is new: name another directory, database or schema.',
  });
}

function usedSince(error: ParleyError): ParleyError {
  const hint =
    'Nothing was changed: the copy has keys, so it may be in use. Where one of the two was used since they were equal, copy into a new store.';
  return error.with({ hint, remedy: null });
}

async function setNote(copy: StoreRows, value: CopyNote): Promise<void> {
  await copy.setCopyNote(JSON.stringify(value));
}

/** Returns the texts that were copied; null if a stopped copy was continued. */
async function copySessions(options: StoreCopy, projectId: string): Promise<CopiedTexts | null> {
  const { original, copy, progress, signal } = options;
  const place = options.resume ? await repair(options, projectId) : null;
  if (place === 'end') return null;
  const texts = options.resume ? null : new CopiedTexts();
  let page: PartPage = await original.readParts(projectId, place);
  /** The writing of the page before. */
  let before: Promise<void> = Promise.resolve();
  for (;;) {
    signal.throwIfAborted();
    const { parts, next } = page;
    const endedCount = countEndedSessions(page);
    const writing = copy.addParts(projectId, parts).then(() => progress.finish(endedCount));
    // The copy may stop before this page is written. Its failure is then no unhandled rejection.
    writing.catch(() => {});
    texts?.add(parts);
    // The next page is read while two pages are written.
    const [following] = await Promise.all([
      next === null ? null : original.readParts(projectId, next),
      before,
    ]);
    before = writing;
    if (following === null) break;
    page = following;
  }
  await before;
  texts?.end();
  return texts;
}

/**
 * Copies again the sessions of a stopped copy that differ from the original, such as the last one, which may be incomplete.
 * Returns the place after which nothing is copied yet; `end` if everything is.
 */
async function repair(options: StoreCopy, projectId: string): Promise<PartPlace | 'end'> {
  const { original, copy, progress, signal } = options;
  const differentIds: string[] = [];
  const originals = sessionDigests(original, projectId, signal);
  for await (const pair of pairDigests(originals, sessionDigests(copy, projectId, signal))) {
    if (pair.isCopyOver) {
      await replaceSessions(options, projectId, differentIds);
      return { session_id: pair.session_id, message: firstMessage };
    }
    if (pair.original !== null) progress.finish(1);
    if (pair.original?.hash === pair.copy?.hash) continue;
    differentIds.push(pair.session_id);
    if (differentIds.length >= repairedAtOnce)
      await replaceSessions(options, projectId, differentIds.splice(0));
  }
  await replaceSessions(options, projectId, differentIds);
  return 'end';
}

async function replaceSessions(
  { original, copy, signal }: StoreCopy,
  projectId: string,
  ids: readonly string[],
) {
  if (ids.length === 0) return;
  await copy.removeSessions(projectId, ids);
  for (const session_id of ids) {
    let place: PartPlace | null = { session_id, message: firstMessage };
    while (place !== null && place.session_id === session_id && place.message !== null) {
      signal.throwIfAborted();
      const page: PartPage = await original.readParts(projectId, place);
      const ownParts = page.parts.filter(({ session }) => session.session_id === session_id);
      await copy.addParts(projectId, ownParts);
      place = page.next;
    }
  }
}

/** The chain is copied with its hashes, so it can be verified in the copy. */
async function copyAudit({ original, copy, signal }: StoreCopy): Promise<void> {
  for await (const rows of auditPages(original, signal)) await copy.addAudit(rows);
}

async function copyIdempotency({ original, copy, signal }: StoreCopy, projectId: string): Promise<number> {
  let count = 0;
  for await (const rows of idempotencyPages(original, projectId, signal)) {
    await copy.addIdempotency(projectId, rows);
    count += rows.length;
  }
  return count;
}
