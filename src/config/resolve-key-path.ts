// A reference to a key, so that it means the same from wherever it is read.
import { resolve } from 'node:path';

/** A path is taken from `directory`; one in `~/` from `home`, where that is given. */
export function resolveKeyPath(reference: string, directory: string, home: string | null = null): string {
  const [, path = ''] = /^file:([\s\S]*)$/.exec(reference) ?? [];
  if (path.trim() === '' || path.includes('\0')) return reference;
  if (path.startsWith('~/')) return home ? `file:${resolve(home, path.slice(2))}` : reference;
  return `file:${resolve(directory, path)}`;
}
