// Reads the repository's own files, for tests that compare documents and sources.
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Every TypeScript file under a folder of the repository. */
export function sourceFiles(folder: string): readonly { readonly path: string; readonly text: string }[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({
      path: [folder, ...name.split(sep)].join('/'),
      text: readFileSync(join(root, folder, name), 'utf8'),
    }));
}
