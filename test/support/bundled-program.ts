// A small program written in TypeScript, bundled as the product is, so that a test can run it as a process of its own.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

export interface BundledProgram {
  /** The JavaScript file for node. */
  readonly path: string;
  remove(): Promise<void>;
}

/** `absent` names packages that the program cannot load: proof that it does not need them. */
export async function bundleProgram(source: string, absent: readonly string[] = []): Promise<BundledProgram> {
  const directory = await mkdtemp(join(tmpdir(), 'parley-program-'));
  const bundle = await rolldown({ input: source, platform: 'node', external: [...absent] });
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
