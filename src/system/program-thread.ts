// Threads and processes that run a file beside the build. In the single executable that file is an asset, which Node finds by its name.
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { getAsset, isSea } from 'node:sea';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/** False if the file is gone, as after an upgrade. The assets of an executable do not go. */
export function isProgramThere(file: URL): boolean {
  return isSea() || existsSync(file);
}

/** The thread gets neither the options nor the environment of this process, and alone keeps no process alive. */
export function startThread(file: URL, options: WorkerOptions = {}): Worker {
  const all: WorkerOptions = { ...options, argv: [], execArgv: [], env: {}, stdout: true, stderr: true };
  const thread = isSea()
    ? new Worker(getAsset(basename(file.pathname), 'utf8'), { ...all, eval: true })
    : new Worker(file, all);
  thread.unref();
  return thread;
}
