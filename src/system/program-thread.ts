// Starts threads that run a separate file of the build. In the single executable, this file is an asset, which Node finds by its name.
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { getAsset, isSea } from 'node:sea';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/** False if the file was removed, for example by an upgrade. The assets of an executable are always available. */
export function isProgramAvailable(file: URL): boolean {
  return isSea() || existsSync(file);
}

/** The thread gets neither the options nor the environment of this process, and does not keep the process alive. */
export function startThread(file: URL, options: WorkerOptions = {}): Worker {
  const all: WorkerOptions = { ...options, argv: [], execArgv: [], env: {}, stdout: true, stderr: true };
  const thread = isSea()
    ? new Worker(getAsset(basename(file.pathname), 'utf8'), { ...all, eval: true })
    : new Worker(file, all);
  thread.unref();
  return thread;
}
