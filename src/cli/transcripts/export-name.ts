// The name of the file of a session in an exported directory.
import { createHash } from 'node:crypto';

/** The name of the file for a session. The id comes from any server and may contain characters that a file name cannot. */
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
