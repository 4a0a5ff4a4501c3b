// Bundles worker.ts as a program for plain Node, in a directory where the packages of this repository are found.
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'rolldown';

export interface WorkerBundle {
  readonly path: string;
  /** An empty directory for the files of a test. */
  directory(): string;
  remove(): void;
}

export async function bundleWorker(): Promise<WorkerBundle> {
  const root = mkdtempSync(join(tmpdir(), 'parley-config-'));
  const path = join(root, 'worker.mjs');
  symlinkSync(join(import.meta.dirname, '../../node_modules'), join(root, 'node_modules'));
  await build({
    input: join(import.meta.dirname, 'worker.ts'),
    platform: 'node',
    external: [/^better-sqlite3/],
    logLevel: 'warn',
    output: { file: path, format: 'esm', codeSplitting: false },
  });
  return {
    path,
    directory: () => mkdtempSync(join(root, 'case-')),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
