// A small TypeScript program, bundled as the product is, so that a test can run it as a process of its own.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';

export interface BundledProgram {
  /** The JavaScript file for node. */
  readonly path: string;
  remove(): Promise<void>;
}

export interface Bundling {
  /** Packages that the program must not load. */
  readonly absent?: readonly string[];
  /** A source file, by its absolute path, and its replacement: a mutant that tests must detect. */
  readonly mutant?: { readonly of: string; readonly path: string };
}

export async function bundleProgram(
  source: string,
  { absent = [], mutant }: Bundling = {},
): Promise<BundledProgram> {
  const directory = await mkdtemp(join(tmpdir(), 'parley-program-'));
  const inItsPlace: Plugin = {
    name: 'mutant',
    async resolveId(id, importer, options) {
      // The mutant imports unchanged parts from the original.
      if (mutant === undefined || importer === mutant.path) return null;
      const found = await this.resolve(id, importer, { ...options, skipSelf: true });
      return found?.id === mutant.of ? mutant.path : null;
    },
  };
  const bundle = await rolldown({
    input: source,
    platform: 'node',
    external: [...absent],
    plugins: [inItsPlace],
  });
  await bundle.write({
    dir: directory,
    format: 'esm',
    entryFileNames: 'program.mjs',
    chunkFileNames: '[name].mjs',
  });
  await bundle.close();
  return {
    path: join(directory, 'program.mjs'),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
