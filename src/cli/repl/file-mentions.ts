// Finds the files that a message names, as in `Compare @a.ts and @"my notes.md"`.
import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { systemErrorCode } from '../../system/file-errors.ts';
import { withHome } from './argument-choices.ts';
import { soonAfterAbort } from './stoppable-calls.ts';

export interface Mentions {
  /** The path of each file once, in the order of the message. */
  readonly files: readonly string[];
  /** The paths of no regular file. A name that only resembles a path (`@Component`, `@user`) is none of them. */
  readonly others: readonly { readonly path: string; readonly reason: string }[];
}

/** Punctuation after a path in a sentence, of several scripts. */
const punctuation = /[,.;:!?)\]}'"’”»…、。，．；：！？）］｝」』】》]{1,3}$/;

/** Rejects with the reason of the signal, also if a network drive does not answer. */
export async function findMentions(
  paths: readonly string[],
  home: string | undefined,
  signal: AbortSignal,
): Promise<Mentions> {
  const files: string[] = [];
  const others = new Map<string, string>();
  for (const mention of new Set(paths)) {
    const { path, status } = await namedPath(withHome(mention, home), signal);
    if (typeof status === 'string') {
      if (looksLikePath(path)) others.set(path, reasons[status] ?? 'no such file');
    } else if (status.isFile()) files.push(path);
    else others.set(path, status.isDirectory() ? 'a directory' : 'not a regular file');
  }
  return { files: distinctFiles(files), others: Array.from(others, ([path, reason]) => ({ path, reason })) };
}

/** Removes each path of a file for which there is an earlier path. */
export function distinctFiles(paths: readonly string[]): readonly string[] {
  const first = new Map<string, string>();
  for (const path of paths) if (!first.has(resolve(path))) first.set(resolve(path), path);
  return [...first.values()];
}

/** The status of a file, or the code of the error. */
type Status = Stats | string;

const reasons: Readonly<Record<string, string>> = { EACCES: 'permission denied' };

/** The path if it exists; otherwise the path without the punctuation after it. */
async function namedPath(path: string, signal: AbortSignal): Promise<{ path: string; status: Status }> {
  const [after = ''] = punctuation.exec(path) ?? [];
  for (let length = path.length; ; length--) {
    const shorter = path.slice(0, length);
    const status = await statusOf(shorter, signal);
    if (typeof status !== 'string' || length === path.length - after.length) return { path: shorter, status };
  }
}

async function statusOf(path: string, signal: AbortSignal): Promise<Status> {
  signal.throwIfAborted();
  const status = stat(path).catch((error: unknown) => systemErrorCode(error));
  return soonAfterAbort<Status>(status, signal);
}

/** True for a path with a separator, and for a name with an extension. */
function looksLikePath(path: string): boolean {
  return /[\\/]|[\p{L}\p{M}\p{N}_]\.[A-Za-z]\w{0,7}$/u.test(path);
}
