// Makes the file path in a reference to a key absolute, so that it means the same file in every directory.
import { resolve } from 'node:path';

/** Resolves a path from `directory`, and a path that begins with `~/` from `home`, if `home` is given. */
export function resolveKeyPath(reference: string, directory: string, home: string | null = null): string {
  const [, path = ''] = /^file:([\s\S]*)$/.exec(reference) ?? [];
  if (path.trim() === '' || path.includes('\0')) return reference;
  if (path.startsWith('~/')) return home ? `file:${resolve(home, path.slice(2))}` : reference;
  return `file:${resolve(directory, path)}`;
}
