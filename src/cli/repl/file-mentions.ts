// Finds the files that a message names, as in `Compare @a.ts and @"my notes.md"`.
import { type Stats, statSync } from 'node:fs';
import { withHome } from './argument-choices.ts';

export interface Mentions {
  /** Each file once, in the order of the message. */
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  /** The paths of no regular file. A name that only resembles a path (`@Component`, `@user`) is none of them. */
  readonly others: readonly { readonly path: string; readonly reason: string }[];
}

/** Punctuation after a path in a sentence. A longer row of it is a part of the path. */
const punctuation = /[,.;:!?)\]}'"]{1,3}$/;

export function findMentions(paths: readonly string[], home: string | undefined): Mentions {
  const files = new Map<string, { path: string; bytes: number }>();
  const others: { path: string; reason: string }[] = [];
  for (const mention of paths) {
    const path = namedPath(withHome(mention, home));
    const status = statusOf(path);
    if (status?.isFile()) files.set(path, { path, bytes: status.size });
    else if (status !== undefined)
      others.push({ path, reason: status.isDirectory() ? 'a directory' : 'not a regular file' });
    else if (looksLikePath(path)) others.push({ path, reason: 'no such file' });
  }
  return { files: [...files.values()], others };
}

/** The path if it exists; otherwise the path without the punctuation after it. */
function namedPath(path: string): string {
  const [after = ''] = punctuation.exec(path) ?? [];
  for (let kept = after.length; kept > 0; kept--) {
    const longer = path.slice(0, path.length - after.length + kept);
    if (statusOf(longer) !== undefined) return longer;
  }
  return path.slice(0, path.length - after.length);
}

function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // The path is too long, or leads through a file.
  }
}

/** True for a path with a separator, and for a name with an extension. */
function looksLikePath(path: string): boolean {
  return /[\\/]|\w\.[A-Za-z]\w{0,7}$/.test(path);
}
