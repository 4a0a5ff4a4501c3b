// Makes the file path in a reference to a key absolute, so that it names the same file in every working directory.
import { resolve } from 'node:path';

/** Resolves a path from `directory`. A path that begins with `~/` is resolved from `home`, if `home` is given. */
export function resolveKeyPath(reference: string, directory: string, home: string | null = null): string {
  const [, path = ''] = /^file:([\s\S]*)$/.exec(reference) ?? [];
  if (path.trim() === '' || path.includes('\0')) return reference;
  if (path.startsWith('~/')) return home ? `file:${resolve(home, path.slice(2))}` : reference;
  return `file:${resolve(directory, path)}`;
}
