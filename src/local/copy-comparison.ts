// Compares a copy of a store with its original: every session by a hash, projects and keys row by row.
import { createHash } from 'node:crypto';
import type { CopiedProject, CopyProgress } from '../service/administration.ts';
import { ParleyError } from '../service/errors.ts';
import type { ProjectRow, StoreRows } from '../store/store-rows.ts';
import { type CopiedTexts, sessionHeads } from './copied-texts.ts';
import { type DigestPair, pairDigests, type SessionDigest, sessionDigests } from './session-digests.ts';

interface ComparedStores {
  readonly original: StoreRows;
  readonly copy: StoreRows;
  readonly progress: CopyProgress;
  readonly signal: AbortSignal;
}

/** How many different sessions an error names. */
const maxNamed = 10;

/**
 * Compares the sessions of a project. Rejects with `COPY_DIFFERS`, which names the first sessions that differ. `copied`: what was copied just
 * now, or null for a copy that was continued.
 */
export async function compareProject(
  compared: ComparedStores,
  { project_id, name }: ProjectRow,
  copied: CopiedTexts | null,
): Promise<CopiedProject> {
  const project = { project_id, project_name: name };
  const counts =
    (copied && (await compareCopied(compared, project_id, copied))) ??
    (await compareAll(compared, project_id, name));
  return { ...project, ...counts };
}

type Counts = Pick<CopiedProject, 'sessions' | 'messages' | 'hash'>;

/** Reads the messages of the copy alone. Null if the two stores are not equal. */
async function compareCopied(
  { original, copy, progress, signal }: ComparedStores,
  projectId: string,
  copied: CopiedTexts,
): Promise<Counts | null> {
  const sum = new DigestSum();
  const copies = sessionDigests(copy, projectId, signal);
  for await (const digest of copied.compare(sessionHeads(original, projectId), copies)) {
    if (digest === null) return null;
    progress.finish(1);
    sum.add(digest);
  }
  return sum.counts();
}

/** Reads all of both stores. */
async function compareAll(
  { original, copy, progress, signal }: ComparedStores,
  projectId: string,
  name: string,
): Promise<Counts> {
  const sum = new DigestSum();
  const different: string[] = [];
  let count = 0;
  const originals = sessionDigests(original, projectId, signal);
  for await (const pair of pairDigests(originals, sessionDigests(copy, projectId, signal))) {
    if (pair.original !== null) progress.finish(1);
    if (pair.original === null || pair.original.hash !== pair.copy?.hash) {
      count += 1;
      if (different.length < maxNamed) different.push(describe(pair));
    } else sum.add(pair.original);
  }
  if (count > 0) throw copyDiffers(`in project ${name}, ${different.join(', ')}`, count - different.length);
  return sum.counts();
}

class DigestSum {
  readonly #hash = createHash('sha256');
  #sessions = 0;
  #messages = 0;

  add({ hash, messages }: SessionDigest): void {
    this.#hash.update(hash);
    this.#sessions += 1;
    this.#messages += messages;
  }

  counts(): Counts {
    return { sessions: this.#sessions, messages: this.#messages, hash: this.#hash.digest('hex') };
  }
}

function describe({ session_id, original, copy }: DigestPair): string {
  if (original === null) return `${session_id} (only in the copy)`;
  return copy === null ? `${session_id} (not in the copy)` : session_id;
}

/**
 * The names of the rows that are not the same in both lists, for example `key key_1`. `kind` is that of the rows. Two stores may give
 * bytes as different classes.
 */
export function differences<Row extends object>(
  kind: string,
  originals: readonly Row[],
  copies: readonly Row[],
  idOf: (row: Row) => string,
): readonly string[] {
  const toPlain = (value: unknown) => (value instanceof Uint8Array ? [...value] : value);
  const textOf = (row: Row) =>
    JSON.stringify(
      Object.entries(row)
        .map(([name, value]) => [name, toPlain(value)] as const)
        .sort(([one], [other]) => (one < other ? -1 : 1)),
    );
  const originalTexts = new Set(originals.map(textOf));
  const copyTexts = new Set(copies.map(textOf));
  const different = [
    ...originals.filter((row) => !copyTexts.has(textOf(row))),
    ...copies.filter((row) => !originalTexts.has(textOf(row))),
  ];
  return [...new Set(different.map((row) => `${kind} ${idOf(row)}`))];
}

/** The error `COPY_DIFFERS`. `firstDifferences` names some; `more` is the number of the others. */
export function copyDiffers(firstDifferences: string, more: number): ParleyError {
  const rest = more === 0 ? '' : `, and ${more} more`;
  return new ParleyError('COPY_DIFFERS', `The copy differs from the original: ${firstDifferences}${rest}.`, {
    hint: 'The original may have been written during the copy. Stop the programs that use it, and continue the copy.',
    remedy: { kind: 'resume_copy' },
  });
}
