// The file name of a session in an exported directory.
import { createHash } from 'node:crypto';

/** The id may come from any server and contain characters that a file name cannot have. */
export function fileNameOf(sessionId: string, extension: string): string {
  // `index` is the name of the page that lists the files.
  const name = encodeURIComponent(sessionId)
    .replaceAll('*', '%2A')
    .replace(/^\./, '%2E')
    .replace(/^index$/i, '%69ndex');
  if (name.length <= 150) return `${name}.${extension}`;
  const rest = createHash('sha256').update(sessionId).digest('hex').slice(0, 16);
  return `${name.slice(0, 120)}-${rest}.${extension}`;
}
